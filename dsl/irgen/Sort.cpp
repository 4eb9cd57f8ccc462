// `sort_by`: a key as an unsigned number, its order, and reads in that order.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// The bits of `key` changed so that they order as unsigned numbers: NaN behind
/// everything, both zeros alike.
static mlir::Value orderedBits(ScalarBuilder &b, Scalar key) {
  mlir::Value value = key.value;
  if (key.isFloat()) {
    bool isWide = value.getType().isF64();
    ElementType held = isWide ? ElementType::F64 : ElementType::F32;
    ElementType bits = isWide ? ElementType::U64 : ElementType::U32;
    Scalar zero = b.number(held, 0), number{held, value, nullptr};
    number = b.select(b.equal(number, zero), zero, number);
    Scalar sign = b.integer(bits, isWide ? INT64_MIN : INT32_MIN);
    Scalar plain = b.bitcast(number, bits);
    Scalar isNegative = b.less(number, zero);
    Scalar ordered =
        b.select(isNegative, b.bitNot(plain), b.bitOr(plain, sign));
    Scalar isNan = b.notEqual(number, number);
    return b.select(isNan, b.integer(bits, -1), ordered).value;
  }
  bool isWide = value.getType().getIntOrFloatBitWidth() == 64;
  ElementType held = isWide ? ElementType::I64 : ElementType::I32;
  ElementType bits = isWide ? ElementType::U64 : ElementType::U32;
  if (!key.isSigned())
    return b.cast(key, bits).value;
  Scalar sign = b.integer(held, isWide ? INT64_MIN : INT32_MIN);
  return b.bitXor(b.cast(key, held), sign).value;
}

/// The axes of the keys, the one to sort along last.
static SmallVector<Place, 4> lastOf(SmallVector<Place, 4> places,
                                    StringAttr axis) {
  auto *last = llvm::find_if(
      places, [&](const Place &place) { return place.name == axis; });
  if (last != places.end())
    std::rotate(last, last + 1, places.end());
  return places;
}

mlir::Value Generator::sortBits(const typed::SortExpression &expression) {
  Scalar key = scalar(*expression.operands.front());
  at(expression.span);
  mlir::Value bits = orderedBits(b, key);
  if (!expression.descending || !decide(*expression.descending))
    return bits;
  return b.create<arith::XOrIOp>(
      bits,
      b.create<arith::ConstantOp>(builder.getIntegerAttr(bits.getType(), -1)));
}

/// Keys along local axes are not stored: the element of a rank is looked for
/// where it is needed.
mlir::Value Generator::positionOfRank(const typed::SortExpression &expression,
                                      const Place &place) {
  mlir::Value rank = positionOf(place);
  const Substitution *outer = substitution;
  Place candidate = standIn(place);
  mlir::Value key = sortBits(expression);
  substitution = outer;
  Place other = standIn(place);
  mlir::Value otherKey = sortBits(expression);
  substitution = outer;
  auto compare = [&](arith::CmpIPredicate how, mlir::Value x, mlir::Value y) {
    return b.create<arith::CmpIOp>(how, x, y).getResult();
  };
  mlir::Value isLess = compare(arith::CmpIPredicate::ult, otherKey, key);
  mlir::Value isSame = compare(arith::CmpIPredicate::eq, otherKey, key);
  mlir::Value isBefore =
      compare(arith::CmpIPredicate::slt, other.position, candidate.position);
  isBefore = b.create<arith::OrIOp>(
      isLess, b.create<arith::AndIOp>(isSame, isBefore).getResult());
  mlir::Value count = b.total(index(1), isBefore, {other.name});
  return b.total(candidate.position,
                 compare(arith::CmpIPredicate::eq, count, rank),
                 {candidate.name});
}

/// The axis whose positions are the ranks that are read, where only the first
/// so many are: what it does not reach is not put in order. Null: all are.
StringAttr Generator::ranksRead(ArrayRef<Place> places) {
  const Substitution *row = substitutionOf(places.back().name, substitution);
  auto index = row ? row->position.getDefiningOp<qn::IndexOp>() : qn::IndexOp();
  auto kernel = llvm::cast<qn::RowwiseOp>(body->getParentOp());
  if (!index || request.target.isGpu() || readsAreGuarded ||
      !conditions.empty() || kernel.axisNumber(index.getAxis()) < 0)
    return {};
  bool isOther = llvm::none_of(places, [&](const Place &place) {
    return place.name == index.getAxisAttr();
  });
  return isOther ? index.getAxisAttr() : StringAttr();
}

/// Where the places in order are left; those of whole rows are found once.
mlir::Value Generator::orderOf(const typed::SortExpression &expression,
                               StringAttr axis, ArrayRef<Place> places) {
  mlir::Value unshared;
  bool isShared = places.back().name == axis && !changes(expression);
  mlir::Value &order = isShared ? orders[{frame, &expression}] : unshared;
  if (!order)
    atTop([&] {
      mlir::Value bits = sortBits(expression);
      order = addStaged(builder.getI64Type(), places);
      b.create<qn::SortOp>(bits, axis, order);
    });
  return order;
}

irgen::Value Generator::visit(const typed::SortExpression &expression) {
  const Expression &keys = *expression.operands.front();
  StringAttr axis = frame->axes[expression.over.index].front().name;
  SmallVector<Place, 4> places = lastOf(placesOf(keys.axes()), axis);
  if (places.empty() || places.back().name != axis) // all keys are equal
    return readSorted(expression, axis, {});
  bool isLocal = llvm::any_of(
      places, [](const Place &place) { return bool(place.position); });
  if (isLocal)
    return readSorted(expression, axis,
                      positionOfRank(expression, places.back()));
  if (staysInside(expression, places))
    return zeroOf(*expression.type);
  mlir::Value extent; // of ranks that may be too many
  if (StringAttr ranks = ranksRead(places)) {
    if (movesAreChecked(places.back()))
      extent = sizeOf(places.back());
    places.back() = Place{ranks, {}, {}, {}};
  }
  mlir::Value from = readStaged(orderOf(expression, axis, places), places);
  if (extent)
    from = required({ElementType::I64, from, nullptr},
                    {ElementType::I64, extent, nullptr}, axis.getValue())
               .value;
  return readSorted(expression, axis, from);
}

/// Every operand where the order says; `from` null: where it stands.
irgen::Value Generator::readSorted(const typed::SortExpression &expression,
                                   StringAttr axis, mlir::Value from) {
  const Substitution *outer = substitution;
  // A rank that does not exist gives no place either.
  const Substitution *rank = substitutionOf(axis, outer);
  bool isInRange = !rank || rank->isInRange;
  if (from)
    substitution = &substitutions.emplace_back(
        Substitution{axis, from, outer, isInRange, {}});
  std::vector<Value> sorted;
  for (const Expression *operand : expression.operands)
    sorted.push_back(scalar(*operand));
  substitution = outer;
  if (sorted.size() == 1)
    return std::move(sorted.front());
  return Value::list(std::move(sorted));
}
