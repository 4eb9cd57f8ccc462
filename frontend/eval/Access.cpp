// Reads at computed positions, and concatenation.
#include "frontend/eval/Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace quern::eval {

using namespace typed;

Positions Evaluator::extentOf(AxisId axis, const Frame &frame,
                              const Scope &scope, const Point &point) {
  if (auto known = frame.extents.find(axis.index); known != frame.extents.end())
    return known->second;
  const Axis &row = frame.declaration.axis(axis);
  if (!row.upper)
    return {1};
  Value lower = expression(*row.lower, frame, scope, point);
  Value upper = expression(*row.upper, frame, scope, point);
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

Value Evaluator::loadTable(const LoadExpression &node, const Frame &frame,
                           const Scope &scope, const Point &point) {
  const auto &name = llvm::cast<ConstantTableExpression>(*node.base);
  const ConstantTable &table = *name.table;
  Value position = expression(*node.positions.front(), frame, scope, point);
  if (failure)
    return position;
  std::int64_t count = static_cast<std::int64_t>(table.values.size());
  if (position.asInteger() < 0 || position.asInteger() >= count)
    return fail(("index " + llvm::Twine(position.asInteger()) + " of table `" +
                 table.name + "` with " + llvm::Twine(count) + " elements")
                    .str());
  Value value = Value::of(table.element, table.values[position.asInteger()]);
  return eval::cast(value, computeTypeOf(table.element));
}

Value Evaluator::load(const LoadExpression &node, const Frame &frame,
                      const Scope &scope, const Point &point) {
  if (llvm::isa<ConstantTableExpression>(node.base))
    return loadTable(node, frame, scope, point);
  auto otherwise = [&]() {
    if (node.outside)
      return expression(*node.outside, frame, scope, point);
    ElementType type = frame.computeType(node.scalar());
    return eval::cast(Value::integer(0), type);
  };
  if (node.when && !expression(*node.when, frame, scope, point).truth())
    return otherwise();
  Point place = point;
  for (auto [axis, position] :
       llvm::zip_equal(node.base->axes(), node.positions)) {
    if (!position)
      continue;
    Positions positions =
        asPositions(expression(*position, frame, scope, point));
    Positions extents = extentOf(axis, frame, scope, point);
    if (failure)
      return Value::integer(0);
    if (!inRange(positions, extents)) {
      if (node.outside)
        return otherwise();
      return fail(("index " + describe(positions) + " of axis `" +
                   frame.declaration.axis(axis).name + "` with extent " +
                   describe(extents))
                      .str());
    }
    place[axis.index] = std::move(positions);
  }
  return expression(*node.base, frame, scope, place);
}

Value Evaluator::concat(const ConcatExpression &node, const Frame &frame,
                        const Scope &scope, const Point &point) {
  std::int64_t position = point.at(node.axis.index).front();
  for (auto [operand, axis] :
       llvm::zip_equal(node.operands, node.operandAxes)) {
    std::int64_t extent = extentOf(axis, frame, scope, point).front();
    if (position < extent) {
      Point inner = point;
      inner[axis.index] = {position};
      return expression(*operand, frame, scope, inner);
    }
    position -= extent;
  }
  return fail("a position lies behind the last operand of `concat`");
}

} // namespace quern::eval
