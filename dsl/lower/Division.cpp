// Division in lanes. Of integers: the float nearest to a quotient is never
// beyond the next integer as long as the operands are exact, so cutting it is
// enough. Of floats by one number for a whole row: through its reciprocal.
#include "dsl/lower/Division.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

namespace {

class LaneDivision {
public:
  LaneDivision(OpBuilder &b, Location loc, VectorType type, bool isSigned,
               bool isUniform)
      : b(b), loc(loc), type(type), isSigned(isSigned), isUniform(isUniform) {}

  /// For up to 32 bits: through floats that hold every operand.
  Value narrow(Value left, Value right);
  /// For 64 bits: through floats where all lanes are small.
  Value wide(Value left, Value right);

private:
  Value integers(std::int64_t value) {
    auto each = DenseElementsAttr::get(
        type, APInt(64, static_cast<std::uint64_t>(value)));
    return arith::ConstantOp::create(b, loc, each);
  }
  Value floats(std::int64_t bits) {
    return arith::BitcastOp::create(b, loc, type.clone(b.getF64Type()),
                                    integers(bits));
  }
  Value areSmall(Value left, Value right);
  Value quotient(Value left, Value right);
  /// Floats divided, the result to be cut.
  Value divided(Value left, Value right);

  OpBuilder &b;
  Location loc;
  VectorType type;
  bool isSigned;
  bool isUniform; ///< one divisor for all lanes
};

/// The bits of 1.5 * 2^52. Added to a number of less than 52 bits, as bits or
/// as floats, it gives the float, or the bits, of the other kind.
constexpr std::int64_t magic = 0x4338'0000'0000'0000;

} // namespace

Value LaneDivision::narrow(Value left, Value right) {
  bool isShort = type.getElementTypeBitWidth() <= 16;
  Type floats = type.clone(isShort ? b.getF32Type() : b.getF64Type());
  auto convert = [&](Value value) -> Value {
    if (isSigned)
      return arith::SIToFPOp::create(b, loc, floats, value);
    return arith::UIToFPOp::create(b, loc, floats, value);
  };
  Value quotient = divided(convert(left), convert(right));
  if (isSigned)
    return arith::FPToSIOp::create(b, loc, type, quotient);
  return arith::FPToUIOp::create(b, loc, type, quotient);
}

/// By one divisor for all lanes its reciprocal is multiplied. With a half added
/// to the dividend the quotient is half a divisor's part from integers, farther
/// than two roundings lead while operands have two bits less than a float.
Value LaneDivision::divided(Value left, Value right) {
  if (!isUniform)
    return arith::DivFOp::create(b, loc, left, right);
  auto type = cast<VectorType>(left.getType());
  Value half = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), 0.5)));
  if (isSigned)
    half = math::CopySignOp::create(b, loc, half, left);
  left = arith::AddFOp::create(b, loc, left, half);
  Value one = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(type.getElementType(), 1));
  Value divisor = vector::ExtractOp::create(b, loc, right, 0);
  Value reciprocal = arith::DivFOp::create(b, loc, one, divisor);
  reciprocal = vector::BroadcastOp::create(b, loc, type, reciprocal);
  return arith::MulFOp::create(b, loc, left, reciprocal);
}

/// Whether all lanes of both are below 2^50 (in size, where signed).
Value LaneDivision::areSmall(Value left, Value right) {
  std::int64_t limit = std::int64_t(1) << (isSigned ? 51 : 50);
  if (isSigned) {
    Value half = integers(limit / 2);
    left = arith::AddIOp::create(b, loc, left, half);
    right = arith::AddIOp::create(b, loc, right, half);
  }
  Value bits = arith::OrIOp::create(b, loc, left, right);
  Value small = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, bits,
                                      integers(limit));
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, small);
}

Value LaneDivision::quotient(Value left, Value right) {
  Value offset = integers(magic), base = floats(magic);
  auto convert = [&](Value value) -> Value {
    Value bits = arith::AddIOp::create(b, loc, value, offset);
    Value sum = arith::BitcastOp::create(b, loc, base.getType(), bits);
    return arith::SubFOp::create(b, loc, sum, base);
  };
  Value exact = divided(convert(left), convert(right));
  Value cut = math::TruncOp::create(b, loc, exact);
  Value sum = arith::AddFOp::create(b, loc, cut, base);
  Value bits = arith::BitcastOp::create(b, loc, type, sum);
  return arith::SubIOp::create(b, loc, bits, offset);
}

Value LaneDivision::wide(Value left, Value right) {
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{type}, areSmall(left, right), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, quotient(left, right));
  b.setInsertionPointToEnd(branch.elseBlock());
  Value each = isSigned ? Value(arith::DivSIOp::create(b, loc, left, right))
                        : Value(arith::DivUIOp::create(b, loc, left, right));
  scf::YieldOp::create(b, loc, each);
  return branch.getResult(0);
}

Value quern::divideVectors(OpBuilder &b, Operation *op, ValueRange operands) {
  bool divides = isa<arith::DivSIOp, arith::DivUIOp>(op);
  if (!divides && !isa<arith::RemSIOp, arith::RemUIOp>(op))
    return {};
  auto type = dyn_cast<VectorType>(operands[0].getType());
  if (!type || type.getRank() != 1)
    return {};
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  auto splat = operands[1].getDefiningOp<vector::BroadcastOp>();
  bool isUniform = splat && !isa<VectorType>(splat.getSource().getType());
  LaneDivision lanes(b, op->getLoc(), type, isSigned, isUniform);
  unsigned width = type.getElementTypeBitWidth();
  if (width != 8 && width != 16 && width != 32 && width != 64)
    return {};
  // Products with what stands for a reciprocal are faster, up to 32 bits.
  if (width < 64 && matchPattern(op->getOperand(1), m_Constant()))
    return {};
  Value quotient = width == 64 ? lanes.wide(operands[0], operands[1])
                               : lanes.narrow(operands[0], operands[1]);
  if (divides)
    return quotient;
  Value whole = arith::MulIOp::create(b, op->getLoc(), quotient, operands[1]);
  return arith::SubIOp::create(b, op->getLoc(), operands[0], whole);
}

namespace {

/// What rows are divided by.
struct Divisor {
  Value reciprocal;
  Value isUsual; ///< far enough from where floats end
};

} // namespace

/// Once for a row, where it was made.
static Divisor divisorIn(Emitter &emitter, Frame &outer, Value divisor) {
  Frame::Key reciprocal(divisor.getAsOpaquePointer(), 0);
  Frame::Key isUsual(divisor.getAsOpaquePointer(), 1);
  if (Value found = outer.values.lookup(reciprocal))
    return {found, outer.values.lookup(isUsual)};
  OpBuilder &b = emitter.in(outer);
  Location loc = divisor.getLoc();
  auto number = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  Value made = arith::DivFOp::create(b, loc, number(1), divisor);
  Value size = math::AbsFOp::create(b, loc, divisor);
  Value large = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, size,
                                      number(0x1p-60f));
  Value small = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size,
                                      number(0x1p+60f));
  Value usual = arith::AndIOp::create(b, loc, large, small);
  outer.values[reciprocal] = made;
  outer.values[isUsual] = usual;
  return {made, usual};
}

/// The quotient that a product with the reciprocal comes near, mended by what
/// it leaves: rounded as a division is, but for the last bit where dividends
/// are below 2^-100. An infinite product leaves nothing to mend it by, and what
/// is added to a zero would take its sign.
static Value mendedQuotient(OpBuilder &b, Location loc, Value left,
                            Value divisor, Value reciprocal) {
  Value near = arith::MulFOp::create(b, loc, left, reciprocal);
  Value back = arith::NegFOp::create(b, loc, near);
  Value rest = math::FmaOp::create(b, loc, back, divisor, left);
  Value mended = math::FmaOp::create(b, loc, rest, reciprocal, near);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(mended.getType()));
  Value isNone =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UEQ, mended, zero);
  return arith::SelectOp::create(b, loc, isNone, near, mended);
}

Value quern::divideByOuter(Emitter &emitter, Frame &frame, Operation *op,
                           ValueRange operands) {
  if (!isa<arith::DivFOp>(op))
    return {};
  auto type = cast<VectorType>(operands[0].getType());
  auto splat = operands[1].getDefiningOp<vector::BroadcastOp>();
  if (!type.getElementType().isF32() || !splat ||
      !splat.getSource().getType().isF32())
    return {};
  Value divisor = splat.getSource();
  Frame *outer = nullptr;
  for (Frame *each = frame.parent; each; each = each->parent)
    if (each->block == divisor.getParentBlock())
      outer = each;
  if (!outer)
    return {};
  auto [reciprocal, isUsual] = divisorIn(emitter, *outer, divisor);
  OpBuilder &b = emitter.in(frame);
  Location loc = op->getLoc();
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, isUsual, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  Value wide = vector::BroadcastOp::create(b, loc, type, reciprocal);
  scf::YieldOp::create(b, loc,
                       mendedQuotient(b, loc, operands[0], operands[1], wide));
  b.setInsertionPointToEnd(branch.elseBlock());
  Value whole = arith::DivFOp::create(b, loc, operands[0], operands[1]);
  scf::YieldOp::create(b, loc, whole);
  return branch.getResult(0);
}
