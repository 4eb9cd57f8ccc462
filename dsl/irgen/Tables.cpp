// Reads of constant tables, and `concat`.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

static DenseElementsAttr elementsOf(const typed::ConstantTable &table,
                                    Type type) {
  auto shaped = RankedTensorType::get(
      {static_cast<std::int64_t>(table.values.size())}, type);
  if (auto floatType = dyn_cast<FloatType>(type)) {
    SmallVector<APFloat> values;
    for (const typed::Constant &value : table.values) {
      APFloat number(value.kind == typed::Constant::Kind::Float
                         ? value.floating
                         : static_cast<double>(value.integer));
      bool losesInfo = false;
      number.convert(floatType.getFloatSemantics(),
                     APFloat::rmNearestTiesToEven, &losesInfo);
      values.push_back(number);
    }
    return DenseElementsAttr::get(shaped, values);
  }
  SmallVector<APInt> values;
  for (const typed::Constant &value : table.values)
    values.push_back(APInt(64, value.kind == typed::Constant::Kind::Boolean
                                   ? value.boolean
                                   : static_cast<std::uint64_t>(value.integer))
                         .trunc(type.getIntOrFloatBitWidth()));
  return DenseElementsAttr::get(shaped, values);
}

/// A position beyond either end reads the element at that end, or `outside`.
irgen::Value Generator::loadTable(const typed::LoadExpression &load) {
  const typed::ConstantTable &table =
      *llvm::cast<typed::ConstantTableExpression>(load.base)->table;
  mlir::Value position = toIndex(scalar(*load.positions.front()));
  at(load.span);
  mlir::Value last = index(static_cast<std::int64_t>(table.values.size()) - 1);
  mlir::Value clamped = b.create<arith::MaxSIOp>(
      b.create<arith::MinSIOp>(position, last).getResult(), index(0));
  Type type = valueType(builder.getContext(), table.element);
  Scalar element{table.element,
                 b.create<qn::LookupOp>(type, clamped, elementsOf(table, type)),
                 nullptr};
  if (!load.outside)
    return element;
  Scalar inside{
      ElementType::Bool,
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, clamped, position),
      nullptr};
  if (load.when)
    inside = b.bitAnd(inside, scalar(*load.when));
  return b.select(inside, element,
                  coerce(scalar(*load.outside), table.element));
}

/// Every operand is read behind the ends of those before it.
irgen::Value Generator::visit(const typed::ConcatExpression &expression) {
  openResultAxis(expression.axis);
  ArrayRef<Place> target = frame->axes[expression.axis.index];
  mlir::Value position = positionOf(target.front());
  mlir::Value begin = index(0);
  Scalar result;
  for (auto [operand, axis] :
       llvm::zip_equal(expression.operands, expression.operandAxes)) {
    Place place = frame->axes[axis.index].front();
    mlir::Value local = b.create<arith::SubIOp>(position, begin);
    Scalar inside{ElementType::Bool, inRange(local, place), nullptr};
    const Substitution *outer = substitution;
    substitution = &substitutions.emplace_back(
        Substitution{place.name, local, substitution});
    bool guarded = std::exchange(readsAreGuarded, true);
    conditions.push_back({inside.value, false});
    Scalar value = coerce(scalar(*operand), frame->type(expression.scalar()));
    conditions.pop_back();
    readsAreGuarded = guarded;
    substitution = outer;
    at(expression.span);
    result = result ? b.select(inside, value, result) : value;
    begin = b.create<arith::AddIOp>(begin, sizeOf(place));
  }
  return result;
}
