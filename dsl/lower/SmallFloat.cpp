// Conversions between f32 and floats of 16 and 8 bits, made of integer code:
// the same bits on every target, subnormal numbers included.
#include "dsl/lower/SmallFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

namespace {
/// A format, and short names for the operations on vectors of 32 bits.
struct Converter {
  Converter(OpBuilder &builder, Location loc, FloatType type, Type like)
      : builder(builder), loc(loc), mantissa(type.getFPMantissaWidth() - 1),
        bits(type.getWidth()), infinities(!isa<Float8E4M3FNType>(type)),
        like(like) {
    bias = (1 << (bits - 2 - mantissa)) - 1;
    infinite = ((1 << (bits - 1)) - 1) & ~((1 << mantissa) - 1);
  }

  Type of(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value number(std::uint32_t value) {
    Type type = of(builder.getI32Type());
    Attribute one = builder.getI32IntegerAttr(static_cast<std::int32_t>(value));
    TypedAttr all = cast<TypedAttr>(one);
    if (auto vector = dyn_cast<VectorType>(type))
      all = DenseElementsAttr::get(vector, one);
    return arith::ConstantOp::create(builder, loc, all);
  }
  template <typename Op> Value make(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  Value asFloat(Value value) {
    return arith::BitcastOp::create(builder, loc, of(builder.getF32Type()),
                                    value);
  }
  Value asBits(Value value) {
    return arith::BitcastOp::create(builder, loc, of(builder.getI32Type()),
                                    value);
  }
  Value select(arith::CmpIPredicate predicate, Value a, std::uint32_t b,
               Value yes, Value no) {
    Value is = arith::CmpIOp::create(builder, loc, predicate, a, number(b));
    return arith::SelectOp::create(builder, loc, is, yes, no);
  }

  Value widen(Value value);
  Value round(Value value);
  Value roundHalf(Value value);

  OpBuilder &builder;
  Location loc;
  unsigned mantissa, bits, bias = 0;
  std::uint32_t infinite = 0;
  bool infinities;
  Type like;
};
} // namespace

/// The exponent is moved by a multiplication, which is exact and gets subnormal
/// numbers right.
Value Converter::widen(Value value) {
  using Predicate = arith::CmpIPredicate;
  unsigned up = 23 - mantissa;
  Type small = of(builder.getIntegerType(bits));
  Value raw = arith::BitcastOp::create(builder, loc, small, value);
  Value wide =
      arith::ExtUIOp::create(builder, loc, of(builder.getI32Type()), raw);
  if (bias == 127) // the upper half of an f32, its sign included
    return asFloat(make<arith::ShLIOp>(wide, number(up)));
  Value size = make<arith::AndIOp>(wide, number((1u << (bits - 1)) - 1));
  Value sign =
      make<arith::ShLIOp>(make<arith::XOrIOp>(wide, size), number(32 - bits));
  Value moved = make<arith::ShLIOp>(size, number(up));
  Value factor = asFloat(number((254 - bias) << 23));
  Value result = asBits(make<arith::MulFOp>(asFloat(moved), factor));
  Value special = infinities ? make<arith::OrIOp>(moved, number(0x7f800000))
                             : number(0x7fc00000);
  std::uint32_t first = infinities ? infinite : (1u << (bits - 1)) - 1;
  result = select(Predicate::uge, size, first, special, result);
  return asFloat(make<arith::OrIOp>(result, sign));
}

/// The upper half of an f32: what is added carries into no sign but for what is
/// no number, so that the sign stays where it is. The lower half is cut off
/// last: where the number is widened again that is one mask.
Value Converter::roundHalf(Value value) {
  unsigned down = 23 - mantissa;
  Value raw = asBits(value);
  Value upper = make<arith::ShRUIOp>(raw, number(down));
  Value odd = make<arith::AndIOp>(upper, number(1));
  Value sum = make<arith::AddIOp>(raw, number((1u << (down - 1)) - 1));
  sum = make<arith::AddIOp>(sum, odd);
  Value nan = make<arith::AndIOp>(raw, number(1u << 31));
  nan = make<arith::OrIOp>(nan, number(0x7fc00000));
  Value single = asFloat(raw);
  Value isNumber = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ORD, single, single);
  Value result = arith::SelectOp::create(builder, loc, isNumber, sum, nan);
  Type small = of(builder.getIntegerType(bits));
  return arith::TruncIOp::create(builder, loc, small,
                                 make<arith::ShRUIOp>(result, number(down)));
}

/// Half of the last place less one is added, and one where that place is odd;
/// what becomes subnormal is rounded by an addition instead.
Value Converter::round(Value value) {
  using Predicate = arith::CmpIPredicate;
  if (bias == 127)
    return roundHalf(value);
  unsigned down = 23 - mantissa;
  Value raw = asBits(value);
  Value size = make<arith::AndIOp>(raw, number(0x7fffffff));
  Value sign =
      make<arith::ShRUIOp>(make<arith::XOrIOp>(raw, size), number(32 - bits));
  Value odd =
      make<arith::AndIOp>(make<arith::ShRUIOp>(size, number(down)), number(1));
  Value half = number((1u << (down - 1)) - 1);
  Value sum = make<arith::AddIOp>(make<arith::AddIOp>(size, half), odd);
  Value result = make<arith::ShRUIOp>(sum, number(down));
  std::uint32_t most = infinities ? infinite : (1u << (bits - 1)) - 2;
  std::uint32_t nan =
      infinities ? infinite | 1u << (mantissa - 1) : (1u << (bits - 1)) - 1;
  result = make<arith::SubIOp>(result, number((127 - bias) << mantissa));
  std::uint32_t magic = (127 - bias + down + 1) << 23;
  Value subnormal =
      asBits(make<arith::AddFOp>(asFloat(size), asFloat(number(magic))));
  subnormal = make<arith::SubIOp>(subnormal, number(magic));
  result = select(Predicate::ult, size, (128 - bias) << 23, subnormal, result);
  result = make<arith::MinUIOp>(result, number(most));
  result = select(Predicate::ugt, size, 0x7f800000, number(nan), result);
  result = make<arith::OrIOp>(result, sign);
  Type small = of(builder.getIntegerType(bits));
  return arith::TruncIOp::create(builder, loc, small, result);
}

Value quern::widenSmallFloat(OpBuilder &builder, Location location,
                             Value value) {
  auto type = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  return Converter(builder, location, type, value.getType()).widen(value);
}

Value quern::roundSmallFloat(OpBuilder &builder, Location location, Value value,
                             FloatType type) {
  Converter converter(builder, location, type, value.getType());
  Value bits = converter.round(value);
  return arith::BitcastOp::create(builder, location, converter.of(type), bits);
}

/// Small floats are converted by integer code, but for f16 where the target
/// does.
static bool isSmallFloat(const TargetInfo &target, Type type) {
  auto small = dyn_cast<FloatType>(type);
  if (target.isGpu())
    return small && small.getWidth() == 8;
  bool halves =
      target.vectorBytes >= 32 || target.triple.rfind("x86_64", 0) != 0;
  return small && small.getWidth() <= 16 && !(small.isF16() && halves);
}

/// A float of 16 bits as f32; f64 has been rounded to f32 before.
static Value asSingle(OpBuilder &builder, const TargetInfo &target,
                      Location loc, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF32())
    return value;
  if (isSmallFloat(target, element))
    return widenSmallFloat(builder, loc, value);
  auto vector = dyn_cast<VectorType>(value.getType());
  Type single = builder.getF32Type();
  if (vector)
    single = vector.clone(single);
  return arith::ExtFOp::create(builder, loc, single, value);
}

/// A choice between small floats moves bits; null for other operations.
static Value chooseBits(OpBuilder &builder, Operation *op,
                        ValueRange operands) {
  auto small = dyn_cast<FloatType>(op->getResult(0).getType());
  if (!isa<arith::SelectOp>(op) || !small || small.getWidth() > 16)
    return Value();
  Location loc = op->getLoc();
  Type type = operands[1].getType();
  Type bits = builder.getIntegerType(small.getWidth());
  if (auto vector = dyn_cast<VectorType>(type))
    bits = vector.clone(bits);
  Value yes = arith::BitcastOp::create(builder, loc, bits, operands[1]);
  Value no = arith::BitcastOp::create(builder, loc, bits, operands[2]);
  Value chosen = arith::SelectOp::create(builder, loc, operands[0], yes, no);
  return arith::BitcastOp::create(builder, loc, type, chosen);
}

SmallVector<Value> quern::cloneLifted(OpBuilder &builder,
                                      const TargetInfo &target, Operation *op,
                                      ValueRange operands, unsigned lanes) {
  Location loc = op->getLoc();
  if (isa<arith::ExtFOp>(op) && op->getResult(0).getType().isF32() &&
      isSmallFloat(target, op->getOperand(0).getType()))
    return {widenSmallFloat(builder, loc, operands[0])};
  if (isa<arith::TruncFOp>(op) &&
      isSmallFloat(target, op->getResult(0).getType()))
    return {roundSmallFloat(builder, loc,
                            asSingle(builder, target, loc, operands[0]),
                            cast<FloatType>(op->getResult(0).getType()))};
  if (Value chosen = chooseBits(builder, op, operands))
    return {chosen};
  OperationState state(loc, op->getName());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  for (Type type : op->getResultTypes())
    state.addTypes(lanes == 1 ? type : VectorType::get({int64_t(lanes)}, type));
  Operation *made = builder.create(state);
  // To nearest is what every target does unasked; said in so many words it
  // would become a call that LLVM does not look into.
  if (auto rounding = dyn_cast<arith::TruncFOp>(made))
    rounding.removeRoundingmodeAttr();
  return SmallVector<Value>(made->getResults());
}
