// Integer division, bits and shifts: every operand has a defined result.
#include "dsl/irgen/Scalar.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

static std::optional<APInt> constantOf(Scalar operand) {
  APInt value;
  if (matchPattern(operand.value, m_ConstantInt(&value)))
    return value;
  return std::nullopt;
}

Value ScalarBuilder::isZero(Scalar operand) {
  return create<arith::CmpIOp>(arith::CmpIPredicate::eq, operand.value,
                               integer(operand.type, 0).value);
}

/// `divisor`, or 1 where the machine's division would trap: by zero, and the
/// smallest number by -1, whose quotient wraps to itself.
static Scalar safeDivisor(ScalarBuilder &b, Scalar dividend, Scalar divisor,
                          Value byZero) {
  Value unsafe = byZero;
  if (divisor.isSigned()) {
    Scalar smallest =
        b.integer(divisor.type, std::int64_t(-1) << (bitsOf(divisor.type) - 1));
    Value wraps = b.create<arith::AndIOp>(
        b.equal(dividend, smallest).value,
        b.equal(divisor, b.integer(divisor.type, -1)).value);
    unsafe = b.create<arith::OrIOp>(unsafe, wraps);
  }
  return b.select({ElementType::Bool, unsafe, nullptr},
                  b.integer(divisor.type, 1), divisor);
}

/// Quotient towards minus infinity and its remainder, for a divisor that does
/// not trap.
static std::pair<Scalar, Scalar> divideFloor(ScalarBuilder &b, Scalar dividend,
                                             Scalar divisor) {
  ElementType type = dividend.type;
  if (!dividend.isSigned())
    return {
        {type, b.create<arith::DivUIOp>(dividend.value, divisor.value), {}},
        {type, b.create<arith::RemUIOp>(dividend.value, divisor.value), {}}};
  Scalar quotient{type, b.create<arith::DivSIOp>(dividend.value, divisor.value),
                  nullptr};
  Scalar remainder = b.subtract(dividend, b.multiply(quotient, divisor));
  Scalar zero = b.integer(type, 0);
  Scalar differ = b.less(b.bitXor(remainder, divisor), zero);
  Scalar adjust = b.bitAnd(differ, b.notEqual(remainder, zero));
  return {b.select(adjust, b.subtract(quotient, b.integer(type, 1)), quotient),
          b.select(adjust, b.add(remainder, divisor), remainder)};
}

Scalar ScalarBuilder::floorDivide(Scalar left, Scalar right) {
  std::optional<APInt> divisor = constantOf(right);
  if (divisor && divisor->isPowerOf2() &&
      !(left.isSigned() && divisor->isNegative())) {
    Value amount = integer(left.type, divisor->logBase2()).value;
    if (left.isSigned())
      return {left.type, create<arith::ShRSIOp>(left.value, amount), nullptr};
    return {left.type, create<arith::ShRUIOp>(left.value, amount), nullptr};
  }
  if (divisor && !divisor->isZero() && !divisor->isAllOnes())
    return divideFloor(*this, left, right).first;
  Value byZero = isZero(right);
  Scalar safe = safeDivisor(*this, left, right, byZero);
  // Where the quotient wraps the divisor was replaced by 1: the same quotient.
  return select({ElementType::Bool, byZero, nullptr}, integer(left.type, 0),
                divideFloor(*this, left, safe).first);
}

Scalar ScalarBuilder::floorModulo(Scalar left, Scalar right) {
  std::optional<APInt> divisor = constantOf(right);
  if (divisor && divisor->isPowerOf2() &&
      !(left.isSigned() && divisor->isNegative())) {
    APInt mask = *divisor - 1;
    return bitAnd(left, integer(left.type, mask.getSExtValue()));
  }
  if (divisor && !divisor->isZero() && !divisor->isAllOnes())
    return divideFloor(*this, left, right).second;
  // A divisor of 1 leaves 0, which is also what is wanted.
  Scalar safe = safeDivisor(*this, left, right, isZero(right));
  return divideFloor(*this, left, safe).second;
}

Scalar ScalarBuilder::bitAnd(Scalar left, Scalar right) {
  return {left.type, create<arith::AndIOp>(left.value, right.value), nullptr};
}

Scalar ScalarBuilder::bitOr(Scalar left, Scalar right) {
  return {left.type, create<arith::OrIOp>(left.value, right.value), nullptr};
}

Scalar ScalarBuilder::bitXor(Scalar left, Scalar right) {
  return {left.type, create<arith::XOrIOp>(left.value, right.value), nullptr};
}

Scalar ScalarBuilder::bitNot(Scalar operand) {
  return bitXor(operand, integer(operand.type, -1));
}

/// Amounts count as unsigned, so that a negative one is out of range too.
Scalar ScalarBuilder::shift(Scalar left, Scalar amount, bool toLeft) {
  unsigned bits = bitsOf(left.type);
  bool arithmeticShift = !toLeft && left.isSigned();
  auto apply = [&](Value by) -> Value {
    if (toLeft)
      return create<arith::ShLIOp>(left.value, by);
    if (arithmeticShift)
      return create<arith::ShRSIOp>(left.value, by);
    return create<arith::ShRUIOp>(left.value, by);
  };
  std::optional<APInt> known = constantOf(amount);
  if (known && known->ult(bits))
    return {left.type, apply(amount.value), nullptr};
  Scalar last = integer(left.type, bits - 1);
  Value clamped = create<arith::MinUIOp>(amount.value, last.value);
  Scalar shifted{left.type, apply(clamped), nullptr};
  if (arithmeticShift)
    return shifted;
  Value inRange = create<arith::CmpIOp>(arith::CmpIPredicate::ule, amount.value,
                                        last.value);
  return select({ElementType::Bool, inRange, nullptr}, shifted,
                integer(left.type, 0));
}

Scalar ScalarBuilder::shiftLeft(Scalar left, Scalar amount) {
  return shift(left, amount, true);
}

Scalar ScalarBuilder::shiftRight(Scalar left, Scalar amount) {
  return shift(left, amount, false);
}
