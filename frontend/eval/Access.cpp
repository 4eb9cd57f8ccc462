// Reads at computed positions, and concatenation.
#include "frontend/eval/Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace quern::eval {

using namespace typed;

Positions Evaluator::extentOf(AxisId axis, const Where &where) {
  if (auto known = where.frame.extents.find(axis.index);
      known != where.frame.extents.end())
    return known->second;
  const Axis &row = where.frame.declaration.axis(axis);
  if (!row.upper)
    return {1};
  Value lower = expression(*row.lower, where);
  Value upper = expression(*row.upper, where);
  return {upper.asInteger() - lower.asInteger()};
}

namespace {

/// A position as one number per concrete axis.
Positions asPositions(const Value &value) {
  Positions positions;
  if (!value.isAggregate)
    return {value.asInteger()};
  for (const Value &element : value.elements)
    positions.push_back(element.asInteger());
  return positions;
}

bool inRange(const Positions &positions, const Positions &extents) {
  for (auto [position, extent] : llvm::zip_equal(positions, extents))
    if (position < 0 || position >= extent)
      return false;
  return true;
}

std::string describe(const Positions &positions) {
  std::string text;
  for (std::int64_t position : positions)
    text += (text.empty() ? "" : ", ") + std::to_string(position);
  return text;
}

} // namespace

Value Evaluator::loadTable(const LoadExpression &node, const Where &where) {
  const auto &name = llvm::cast<ConstantTableExpression>(*node.base);
  const ConstantTable &table = *name.table;
  std::int64_t place = 0;
  for (auto [axis, count] : llvm::zip_equal(node.positions, table.extents)) {
    Value position = expression(*axis, where);
    if (failure)
      return position;
    if (position.asInteger() < 0 || position.asInteger() >= count)
      return fail(("index " + llvm::Twine(position.asInteger()) +
                   " of table `" + table.name + "` with " + llvm::Twine(count) +
                   " elements")
                      .str());
    place = place * count + position.asInteger();
  }
  Value value = Value::of(table.element, table.values[place]);
  return eval::cast(value, computeTypeOf(table.element));
}

Value Evaluator::load(const LoadExpression &node, const Where &where) {
  if (llvm::isa<ConstantTableExpression>(node.base))
    return loadTable(node, where);
  auto otherwise = [&]() {
    if (node.outside)
      return expression(*node.outside, where);
    ElementType type = where.frame.computeType(node.scalar());
    return eval::cast(Value::integer(0), type);
  };
  if (node.when && !expression(*node.when, where).truth())
    return otherwise();
  Point place = where.point;
  for (auto [axis, position] :
       llvm::zip_equal(node.base->axes(), node.positions)) {
    if (!position)
      continue;
    Positions positions = asPositions(expression(*position, where));
    Positions extents = extentOf(axis, where);
    if (failure)
      return Value::integer(0);
    if (!inRange(positions, extents)) {
      if (node.outside)
        return otherwise();
      return fail(("index " + describe(positions) + " of axis `" +
                   where.frame.declaration.axis(axis).name + "` with extent " +
                   describe(extents))
                      .str());
    }
    place[axis.index] = std::move(positions);
  }
  return expression(*node.base, where.at(place));
}

Value Evaluator::concat(const ConcatExpression &node, const Where &where) {
  std::int64_t position = where.point.at(node.axis.index).front();
  for (auto [operand, axis] :
       llvm::zip_equal(node.operands, node.operandAxes)) {
    std::int64_t extent = extentOf(axis, where).front();
    if (position < extent) {
      Point inner = where.point;
      inner[axis.index] = {position};
      return expression(*operand, where.at(inner));
    }
    position -= extent;
  }
  return fail("a position lies behind the last operand of `concat`");
}

} // namespace quern::eval
