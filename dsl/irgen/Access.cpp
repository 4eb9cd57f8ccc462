// Reads of operands: at their own axes, at computed positions, and of values
// that are computed again with an axis standing elsewhere.
#include "dsl/dialect/IndexPlaces.h"
#include "dsl/irgen/Generator.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

mlir::Value Generator::toIndex(Scalar scalar) {
  mlir::Value position = b.cast(scalar, ElementType::I64).value;
  if (scalar.type == ElementType::U64)
    unsignedPositions.insert(position);
  else
    unsignedPositions.erase(position);
  return position;
}

mlir::Value Generator::toEnds(Scalar scalar) {
  mlir::Value position = toIndex(scalar);
  if (scalar.type != ElementType::U64)
    return position;
  return b.create<arith::MinUIOp>(
      position, index(std::numeric_limits<std::int64_t>::max()));
}

SmallVector<Attribute, 4> Generator::writtenPlaces(ValueRange indices) {
  SmallVector<Attribute, 4> places;
  for (mlir::Value index : indices)
    places.push_back(positionPlaces.lookup(index));
  return places;
}

SmallVector<Attribute, 4> Generator::movedPlaces(ArrayRef<Place> places) {
  SmallVector<Attribute, 4> written;
  for (const Place &place : places) {
    const Substitution *row = substitutionOf(place.name, substitution);
    written.push_back(row ? row->place : LocationAttr());
  }
  return written;
}

void Generator::markIndices(Operation *op, ValueRange indices, bool isChecked,
                            ArrayRef<Attribute> writtenAt) {
  if (isChecked && writtenAt.empty())
    qn::setIndexPlaces(op, writtenPlaces(indices));
  else if (isChecked)
    qn::setIndexPlaces(op, writtenAt);
  SmallVector<std::int64_t, 2> numbers;
  for (auto [number, index] : llvm::enumerate(indices))
    if (isChecked && unsignedPositions.contains(index))
      numbers.push_back(static_cast<std::int64_t>(number));
  if (!numbers.empty())
    op->setAttr(unsignedIndices, builder.getDenseI64ArrayAttr(numbers));
}

Scalar Generator::emitLoad(const Binding &binding, ValueRange indices,
                           mlir::Value outside, mlir::Value when, bool checked,
                           ArrayRef<Attribute> writtenAt) {
  // What has no axes is always in range.
  if (binding.places.empty() && !when) {
    outside = {};
    checked = false;
  }
  auto complex = dyn_cast<ComplexType>(
      llvm::cast<qn::OperandType>(binding.tensor.getType()).getElementType());
  if (checked)
    b.created += lengthOfCheck;
  auto read = [&](Type type, IntegerAttr part) -> mlir::Value {
    auto op = b.create<qn::LoadOp>(type, binding.tensor, indices, outside, when,
                                   checked, part);
    markIndices(op, indices, checked, writtenAt);
    return op;
  };
  if (complex)
    return {binding.element,
            read(complex.getElementType(), builder.getI64IntegerAttr(0)),
            read(complex.getElementType(), builder.getI64IntegerAttr(1))};
  Type stored = storageType(builder.getContext(), binding.element);
  return b.fromStorage(read(stored, IntegerAttr()), binding.element);
}

mlir::Value Generator::storedZero(ElementType type) {
  Type stored = storageType(builder.getContext(), componentOf(type));
  return b.create<arith::ConstantOp>(
      cast<TypedAttr>(builder.getZeroAttr(stored)));
}

/// The element where the operand's axes stand now.
irgen::Value Generator::loadOwn(const Binding &binding) {
  bool moved = llvm::any_of(binding.places, [&](const Place &place) {
    return substitutionOf(place.name, substitution);
  });
  if (!moved)
    return emitLoad(binding, {}, {}, {}, false);
  SmallVector<mlir::Value, 4> indices;
  for (const Place &place : binding.places)
    indices.push_back(positionOf(place));
  if (readsAreGuarded)
    return emitLoad(binding, indices, storedZero(binding.element),
                    predicate(/*ofPlaces=*/true), false);
  if (!movesAreChecked(binding.places))
    return emitLoad(binding, indices, {}, {}, false);
  return emitLoad(binding, indices, {}, predicate(), true,
                  movedPlaces(binding.places));
}

mlir::Value Generator::inRange(mlir::Value position, const Place &place) {
  mlir::Value offset = position;
  if (place.lower)
    offset = b.create<arith::SubIOp>(position, place.lower);
  // As unsigned, so that one comparison sees both ends.
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, offset,
                                 sizeOf(place));
}

void Generator::collectMoves(const typed::LoadExpression &load, Moves &moves) {
  ArrayRef<AxisId> axes = load.base->axes();
  for (auto [axis, position] : llvm::zip(axes, load.positions)) {
    if (!position)
      continue;
    ArrayRef<Place> places = frame->axes[axis.index];
    Value values = evaluateRanks(*position, places.size());
    for (auto [place, value] : llvm::zip_equal(places, values.elements))
      moves.push_back(
          {place, toIndex(whole(value).scalar), rangeOf(position->span)});
  }
}

/// The operand that `base` names, through the parameters of inlined calls.
static Binding *operandOf(const Expression &base, Frame *frame) {
  const Expression *expression = &base;
  while (const auto *name =
             llvm::dyn_cast<typed::VariableExpression>(expression)) {
    Binding &binding = frame->binding(*name->variable);
    if (binding.kind == Binding::Kind::Tensor)
      return &binding;
    if (!binding.definition || binding.field >= 0)
      return nullptr;
    expression = binding.definition;
    frame = binding.definitionFrame;
  }
  return nullptr;
}

irgen::Value Generator::visit(const typed::LoadExpression &load) {
  if (llvm::isa<typed::ConstantTableExpression>(load.base))
    return loadTable(load);
  if (isThreadText() && placeOf(load))
    return loadThread(load);
  if (load.base->type->isList() || load.base->type->isArray())
    return loadElement(load);
  Moves moves;
  collectMoves(load, moves);
  if (Binding *operand = operandOf(*load.base, frame))
    return loadTensor(*operand, load, moves);
  return loadComputed(load, moves);
}

/// `outside` as an element in memory, if nothing is lost.
static mlir::Value exactInMemory(ScalarBuilder &b, Scalar value) {
  Type stored = storageType(b.builder.getContext(), value.type);
  if (value.isComplex())
    return {};
  if (stored == value.value.getType())
    return value.value;
  FloatAttr attribute;
  if (!matchPattern(value.value, m_Constant(&attribute)))
    return {};
  APFloat number = attribute.getValue();
  bool losesInfo = false;
  number.convert(llvm::cast<FloatType>(stored).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  if (losesInfo)
    return {};
  return b.create<arith::ConstantOp>(FloatAttr::get(stored, number));
}

irgen::Value Generator::loadTensor(const Binding &operand,
                                   const typed::LoadExpression &load,
                                   const Moves &moves) {
  SmallVector<mlir::Value, 4> indices;
  SmallVector<Attribute, 4> writtenAt = movedPlaces(operand.places);
  for (auto [place, written] : llvm::zip_equal(operand.places, writtenAt)) {
    const Move *move = llvm::find_if(moves, [&](const Move &candidate) {
      return candidate.place.name == place.name;
    });
    bool isMoved = move != moves.end();
    indices.push_back(isMoved ? move->position : positionOf(place));
    if (isMoved)
      written = move->writtenAt;
  }
  Scalar when = load.when ? scalar(*load.when) : Scalar();
  if (!load.outside) {
    at(load.span);
    mlir::Value condition = when.value;
    if (mlir::Value around = readsAreChecked ? predicate() : mlir::Value())
      condition = condition
                      ? mlir::Value(b.create<arith::AndIOp>(around, condition))
                      : around;
    mlir::Value missing;
    if (condition && !readsAreChecked)
      missing = storedZero(operand.element);
    Scalar read = emitLoad(operand, indices, missing, condition,
                           readsAreChecked, writtenAt);
    return when && readsAreChecked
               ? b.select(when, read, b.integer(read.type, 0))
               : read;
  }
  Scalar outside = coerce(scalar(*load.outside), operand.element);
  at(load.span);
  if (mlir::Value stored = exactInMemory(b, outside))
    return emitLoad(operand, indices, stored, when.value, false);
  Scalar read = emitLoad(operand, indices, storedZero(operand.element),
                         when.value, false);
  return b.select(moveCondition(moves, when), read, outside);
}

/// True where every moved axis is in range and `when` holds.
Scalar Generator::moveCondition(const Moves &moves, Scalar when) {
  mlir::Value all = when.value;
  for (const Move &move : moves) {
    mlir::Value good = inRange(move.position, move.place);
    all = all ? mlir::Value(b.create<arith::AndIOp>(all, good)) : good;
  }
  return all ? Scalar{ElementType::Bool, all, nullptr} : b.boolean(true);
}

irgen::Value Generator::loadComputed(const typed::LoadExpression &load,
                                     const Moves &moves) {
  Scalar when = load.when ? scalar(*load.when) : Scalar();
  bool isGuarded = load.outside != nullptr;
  Scalar condition = isGuarded ? moveCondition(moves, when) : when;
  const Substitution *outer = substitution;
  for (const Move &move : moves)
    substitution = &substitutions.emplace_back(
        Substitution{move.place.name, move.position, substitution,
                     /*isInRange=*/false, move.writtenAt});
  bool outerGuarded = std::exchange(readsAreGuarded, isGuarded);
  if (condition)
    conditions.push_back({condition.value, false, true});
  Scalar value = scalar(*load.base);
  if (condition)
    conditions.pop_back();
  readsAreGuarded = outerGuarded;
  substitution = outer;
  at(load.span);
  if (!condition)
    return value;
  Scalar outside = isGuarded ? coerce(scalar(*load.outside), value.type)
                             : b.integer(value.type, 0);
  return b.select(condition, value, outside);
}

/// `k[i]` of a parameter `k: int[3]`: a position beyond either end reads the
/// element at that end, as of a table.
irgen::Value Generator::loadElement(const typed::LoadExpression &load) {
  Value list = evaluate(*load.base);
  assert(list.kind == Value::Kind::List && load.positions.size() == 1 &&
         "an element of several values");
  mlir::Value position = toEnds(scalar(*load.positions.front()));
  at(load.span);
  Scalar element = list.elements.front().scalar;
  for (std::size_t number = 1; number < list.elements.size(); ++number) {
    Scalar reaches{ElementType::Bool,
                   b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, position,
                                           index(number)),
                   nullptr};
    element = b.select(reaches, list.elements[number].scalar, element);
  }
  return element;
}
