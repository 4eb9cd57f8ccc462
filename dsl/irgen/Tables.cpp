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

/// A position beyond either end reads the element at that end.
irgen::Value Generator::loadTable(const typed::LoadExpression &load) {
  const typed::ConstantTable &table =
      *llvm::cast<typed::ConstantTableExpression>(load.base)->table;
  SmallVector<mlir::Value, 2> positions;
  for (const Expression *position : load.positions)
    positions.push_back(toEnds(scalar(*position)));
  at(load.span);
  mlir::Value place;
  for (auto [position, extent] : llvm::zip_equal(positions, table.extents)) {
    mlir::Value last = index(extent - 1);
    mlir::Value clamped = b.create<arith::MaxSIOp>(
        b.create<arith::MinSIOp>(position, last).getResult(), index(0));
    if (place)
      place = b.create<arith::MulIOp>(place, index(extent));
    place =
        place ? mlir::Value(b.create<arith::AddIOp>(place, clamped)) : clamped;
  }
  Type type = valueType(builder.getContext(), table.element);
  return Scalar{table.element,
                b.create<qn::LookupOp>(type, place, elementsOf(table, type)),
                nullptr};
}

/// A list read at its own axes, whose tensors are laid out alike, or null.
const Binding *
Generator::joinedList(const typed::ConcatExpression &expression) {
  const Expression *operand = expression.operands.front();
  if (expression.operands.size() > 1 || !operand->type->isList())
    return nullptr;
  const Binding &list =
      frame->binding(*llvm::cast<typed::VariableExpression>(operand)->variable);
  bool isMoved = llvm::any_of(list.places, [&](const Place &place) {
    return substitutionOf(place.name, substitution);
  });
  bool isAlike = llvm::all_equal(llvm::map_range(
      list.tensors, [](mlir::Value tensor) { return tensor.getType(); }));
  return isMoved || !isAlike || list.tensors.size() < 2 ? nullptr : &list;
}

/// One read, which the lowering cuts into pieces.
Scalar Generator::loadJoined(const Binding &list,
                             const typed::ConcatExpression &expression) {
  AxisId axis = expression.axis;
  auto read = [&](Type type, IntegerAttr part) -> mlir::Value {
    return b.create<qn::JoinedOp>(type, list.tensors, frame->parts[axis.index],
                                  frame->axes[axis.index].front().name, part);
  };
  Type stored = storageType(builder.getContext(), componentOf(list.element));
  if (kindOf(list.element) == ElementKind::Complex)
    return {list.element, read(stored, builder.getI64IntegerAttr(0)),
            read(stored, builder.getI64IntegerAttr(1))};
  return b.fromStorage(read(stored, IntegerAttr()), list.element);
}

/// Every operand is read behind the ends of those before it.
irgen::Value Generator::visit(const typed::ConcatExpression &expression) {
  openResultAxis(expression.axis);
  if (const Binding *list = joinedList(expression))
    return coerce(loadJoined(*list, expression),
                  frame->type(expression.scalar()));
  ArrayRef<Place> target = frame->axes[expression.axis.index];
  Joined joined{positionOf(target.front()), index(0), {}};
  for (auto [operand, axis] :
       llvm::zip_equal(expression.operands, expression.operandAxes)) {
    Place place = frame->axes[axis.index].front();
    if (!operand->type->isList()) {
      mlir::Value end = b.create<arith::AddIOp>(joined.begin, sizeOf(place));
      joinPart(
          expression, place, end, joined,
          [&, operand = operand](mlir::Value) { return scalar(*operand); });
      continue;
    }
    const Binding &list = frame->binding(
        *llvm::cast<typed::VariableExpression>(operand)->variable);
    mlir::Value first = joined.begin;
    for (auto [tensor, ends] :
         llvm::zip_equal(list.tensors, frame->parts[axis.index])) {
      Binding part = list;
      part.tensor = tensor;
      place.lower = {};
      mlir::Value end = b.create<arith::AddIOp>(first, ends);
      place.size = b.create<arith::SubIOp>(end, joined.begin);
      joinPart(expression, place, end, joined,
               [&](mlir::Value inside) { return loadPart(part, inside); });
    }
  }
  return joined.value;
}

void Generator::joinPart(const typed::ConcatExpression &expression,
                         const Place &place, mlir::Value end, Joined &joined,
                         llvm::function_ref<Scalar(mlir::Value inside)> read) {
  mlir::Value local = b.create<arith::SubIOp>(joined.position, joined.begin);
  Scalar inside{ElementType::Bool, inRange(local, place), nullptr};
  const Substitution *outer = substitution;
  substitution = &substitutions.emplace_back(
      Substitution{place.name, local, substitution, false, {}});
  bool guarded = std::exchange(readsAreGuarded, true);
  conditions.push_back({inside.value, false, true});
  Scalar value = coerce(read(inside.value), frame->type(expression.scalar()));
  conditions.pop_back();
  readsAreGuarded = guarded;
  substitution = outer;
  at(expression.span);
  joined.value = joined.value ? b.select(inside, value, joined.value) : value;
  joined.begin = end;
}

/// An element of a tensor of a list, whose end only `inside` knows.
Scalar Generator::loadPart(const Binding &part, mlir::Value inside) {
  SmallVector<mlir::Value, 4> indices;
  for (const Place &place : part.places)
    indices.push_back(positionOf(place));
  if (mlir::Value around = predicate(/*ofPlaces=*/true))
    inside = b.create<arith::AndIOp>(around, inside);
  return emitLoad(part, indices, storedZero(part.element), inside, false);
}
