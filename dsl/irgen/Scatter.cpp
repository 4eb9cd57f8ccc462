// Scatter: a store of the old values, then writes at computed places.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// One index for each axis of the operand, by name.
static SmallVector<StringAttr, 4> axesOf(mlir::Value tensor) {
  auto type = llvm::cast<qn::OperandType>(tensor.getType());
  return SmallVector<StringAttr, 4>(type.getAxes());
}

bool Generator::writesWhole(const typed::ScatterExpression &expression,
                            mlir::Value tensor) {
  SmallVector<Place> own = placesOf(expression.axes());
  auto has = [](ArrayRef<Place> places, StringAttr name) {
    return llvm::any_of(places,
                        [&](const Place &place) { return place.name == name; });
  };
  SmallVector<Place> walked = placesOf(expression.over);
  return llvm::none_of(axesOf(tensor), [&](StringAttr axis) {
    return has(walked, axis) && !has(own, axis);
  });
}

SmallVector<mlir::Value, 4>
Generator::scatterIndices(const typed::ScatterExpression &expression,
                          mlir::Value tensor) {
  Moves moves;
  for (auto [axis, position] :
       llvm::zip_equal(expression.into->axes(), expression.positions)) {
    ArrayRef<Place> places = frame->axes[axis.index];
    Value values;
    if (position)
      values = evaluateRanks(*position, places.size());
    for (auto [number, place] : llvm::enumerate(places))
      moves.push_back({place,
                       position ? toIndex(values.elements[number].scalar)
                                : positionOf(place),
                       position ? rangeOf(position->span) : LocationAttr()});
  }
  SmallVector<mlir::Value, 4> indices;
  for (StringAttr axis : axesOf(tensor)) {
    auto move = llvm::find_if(
        moves, [&](const Move &one) { return one.place.name == axis; });
    // Along other axes of the result every row is written alike.
    indices.push_back(move == moves.end()
                          ? b.create<qn::IndexOp>(builder.getI64Type(), axis)
                          : move->position);
    if (move != moves.end() && move->writtenAt)
      positionPlaces[move->position] = move->writtenAt;
  }
  return indices;
}

/// An element as it stands in memory: its halves where it is complex.
static SmallVector<mlir::Value, 2> partsOf(ScalarBuilder &b, Scalar scalar) {
  if (scalar.isComplex())
    return {scalar.value, scalar.imaginary};
  return {b.toStorage(scalar)};
}

static Scalar fromParts(ScalarBuilder &b, ArrayRef<mlir::Value> parts,
                        ElementType element) {
  if (parts.size() == 2)
    return {element, parts[0], parts[1]};
  return b.fromStorage(parts[0], element);
}

/// `old` and `new` as they stand in memory, combined by one step.
void Generator::fillCombine(const typed::ScatterExpression &expression,
                            Region &region, ElementType element) {
  OpBuilder::InsertionGuard guard(builder);
  Location location = b.location;
  Block &block = region.emplaceBlock();
  TypeRange types =
      llvm::cast<qn::ScatterOp>(region.getParentOp()).getValues().getTypes();
  for (unsigned side = 0; side != 2; ++side)
    for (Type type : types)
      block.addArgument(type, location);
  builder.setInsertionPointToStart(&block);
  Monoid monoid =
      openMonoid(*expression.monoid, expression.typeArguments, {}, {});
  const typed::Reduction &reduction = monoid.reduction;
  SmallVector<mlir::Value, 4> arguments(block.getArguments());
  ArrayRef<mlir::Value> all(arguments);
  Scalar oldValue = fromParts(b, all.take_front(types.size()), element);
  Scalar newValue = fromParts(b, all.drop_front(types.size()), element);
  ElementType operand = monoid.frame.type(reduction.operands.front()->scalar);
  Value state =
      coerce(oldValue, monoid.frame.type(reduction.states.front().type));
  Value result = runPart(monoid, reduction.step,
                         {std::move(state), coerce(newValue, operand)},
                         *reduction.stateType);
  b.create<qn::YieldOp>(partsOf(b, coerce(result.scalar, element)));
  b.location = location;
}

/// A scatter in an arm runs whole. Where nothing takes the arm, a place out of
/// range is passed over instead of reported: true where an index is to be seen.
mlir::Value Generator::isSeen(const typed::ScatterExpression &expression,
                              ArrayRef<mlir::Value> indices, mlir::Value tensor,
                              ArrayRef<Condition> under) {
  Region *here = builder.getInsertionBlock()->getParent();
  SmallVector<Condition, 4> visible;
  llvm::copy_if(under, std::back_inserter(visible), [&](Condition one) {
    return one.value.getParentRegion()->isAncestor(here);
  });
  auto outer = std::exchange(conditions, std::move(visible));
  mlir::Value taken = predicate();
  conditions = std::move(outer);
  if (!taken || !readsAreChecked)
    return {};
  std::optional<SmallVector<Attribute, 4>> axes = kernelAxesBehind(taken);
  if (!axes)
    return {};
  mlir::Value seen = axes->empty() ? taken : b.total(taken, {}, *axes), fits;
  for (auto [index, axis] : llvm::zip_equal(indices, axesOf(tensor))) {
    mlir::Value size = b.create<qn::SizeOp>(builder.getI64Type(), axis);
    mlir::Value one =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, index, size);
    fits = fits ? mlir::Value(b.create<arith::AndIOp>(fits, one)) : one;
  }
  return fits ? mlir::Value(b.create<arith::OrIOp>(seen, fits)) : mlir::Value();
}

void Generator::scatter(const typed::ScatterExpression &expression,
                        mlir::Value tensor, ElementType element,
                        ArrayRef<Condition> under) {
  const Declaration *declaration = expression.monoid;
  storeAt(tensor, evaluate(*expression.into), element);
  Scalar when = expression.where ? scalar(*expression.where) : Scalar();
  if (when)
    conditions.push_back({when.value, false});
  SmallVector<mlir::Value, 4> indices = scatterIndices(expression, tensor);
  Scalar value = coerce(scalar(*expression.value), element);
  if (when)
    conditions.pop_back();
  at(expression.span);
  if (mlir::Value seen = isSeen(expression, indices, tensor, under))
    when = {ElementType::Bool,
            when ? mlir::Value(b.create<arith::AndIOp>(when.value, seen))
                 : seen,
            nullptr};
  SmallVector<Attribute, 4> names;
  for (AxisId axis : expression.over)
    for (const Place &place : frame->axes[axis.index])
      names.push_back(place.name);
  ArrayAttr over = names.empty() ? ArrayAttr() : builder.getArrayAttr(names);
  if (declaration && expression.includeSelf &&
      !decide(*expression.includeSelf)) {
    Monoid monoid = openMonoid(*declaration, expression.typeArguments, {}, {});
    Frame *outer = std::exchange(frame, &monoid.frame);
    Scalar neutral = scalar(*monoid.reduction.states.front().initial);
    frame = outer;
    auto op =
        b.create<qn::ScatterOp>(partsOf(b, coerce(neutral, element)), tensor,
                                indices, when.value, over, readsAreChecked);
    markIndices(op, indices, readsAreChecked);
  }
  auto op = b.create<qn::ScatterOp>(partsOf(b, value), tensor, indices,
                                    when.value, over, readsAreChecked);
  markIndices(op, indices, readsAreChecked);
  if (declaration)
    fillCombine(expression, op.getMerge(), element);
}
