// Arithmetic, comparison and selection that all kinds of numbers share.
#include "dsl/irgen/Scalar.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// The operation for the kind of the operands.
template <typename Integer, typename Float>
Value ScalarBuilder::arithmetic(Scalar left, Scalar right) {
  if (!left.isFloat())
    return create<Integer>(left.value, right.value);
  return create<Float>(left.value, right.value, fastMath);
}

Scalar ScalarBuilder::realPart(Scalar operand) {
  return {componentOf(operand.type), operand.value, nullptr};
}

Scalar ScalarBuilder::add(Scalar left, Scalar right) {
  if (left.isComplex())
    return {left.type, create<arith::AddFOp>(left.value, right.value, fastMath),
            create<arith::AddFOp>(left.imaginary, right.imaginary, fastMath)};
  return {left.type, arithmetic<arith::AddIOp, arith::AddFOp>(left, right),
          nullptr};
}

Scalar ScalarBuilder::subtract(Scalar left, Scalar right) {
  if (left.isComplex())
    return {left.type, create<arith::SubFOp>(left.value, right.value, fastMath),
            create<arith::SubFOp>(left.imaginary, right.imaginary, fastMath)};
  return {left.type, arithmetic<arith::SubIOp, arith::SubFOp>(left, right),
          nullptr};
}

Scalar ScalarBuilder::multiply(Scalar left, Scalar right) {
  if (left.isComplex())
    return multiplyComplex(left, right);
  return {left.type, arithmetic<arith::MulIOp, arith::MulFOp>(left, right),
          nullptr};
}

Scalar ScalarBuilder::divide(Scalar left, Scalar right) {
  if (left.isComplex())
    return divideComplex(left, right);
  auto flags = fastMath;
  if (estimatesRoots && right.value.getDefiningOp<math::SqrtOp>())
    flags = flags | arith::FastMathFlags::arcp;
  return {left.type, create<arith::DivFOp>(left.value, right.value, flags),
          nullptr};
}

Scalar ScalarBuilder::negate(Scalar operand) {
  if (operand.isFloat() || operand.isComplex()) {
    Scalar result = operand;
    result.value = create<arith::NegFOp>(operand.value, fastMath);
    if (operand.isComplex())
      result.imaginary = create<arith::NegFOp>(operand.imaginary, fastMath);
    return result;
  }
  return subtract(integer(operand.type, 0), operand);
}

Scalar ScalarBuilder::compare(Scalar left, Scalar right,
                              arith::CmpFPredicate ordered,
                              arith::CmpIPredicate isSigned,
                              arith::CmpIPredicate isUnsigned) {
  auto flags =
      isCoarse ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
  if (left.isFloat())
    return {ElementType::Bool,
            create<arith::CmpFOp>(ordered, left.value, right.value, flags),
            nullptr};
  auto predicate = left.isSigned() ? isSigned : isUnsigned;
  return {ElementType::Bool,
          create<arith::CmpIOp>(predicate, left.value, right.value), nullptr};
}

Scalar ScalarBuilder::equal(Scalar left, Scalar right) {
  if (left.isComplex()) {
    auto same = [&](Value a, Value b) -> Value {
      return create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, b);
    };
    Value both = create<arith::AndIOp>(same(left.value, right.value),
                                       same(left.imaginary, right.imaginary));
    return {ElementType::Bool, both, nullptr};
  }
  return compare(left, right, arith::CmpFPredicate::OEQ,
                 arith::CmpIPredicate::eq, arith::CmpIPredicate::eq);
}

Scalar ScalarBuilder::notEqual(Scalar left, Scalar right) {
  if (left.isComplex())
    return bitNot(equal(left, right));
  return compare(left, right, arith::CmpFPredicate::UNE,
                 arith::CmpIPredicate::ne, arith::CmpIPredicate::ne);
}

Scalar ScalarBuilder::less(Scalar left, Scalar right) {
  return compare(left, right, arith::CmpFPredicate::OLT,
                 arith::CmpIPredicate::slt, arith::CmpIPredicate::ult);
}

Scalar ScalarBuilder::lessEqual(Scalar left, Scalar right) {
  return compare(left, right, arith::CmpFPredicate::OLE,
                 arith::CmpIPredicate::sle, arith::CmpIPredicate::ule);
}

Scalar ScalarBuilder::greater(Scalar left, Scalar right) {
  return compare(left, right, arith::CmpFPredicate::OGT,
                 arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt);
}

Scalar ScalarBuilder::greaterEqual(Scalar left, Scalar right) {
  return compare(left, right, arith::CmpFPredicate::OGE,
                 arith::CmpIPredicate::sge, arith::CmpIPredicate::uge);
}

/// NaN in either operand is the result.
Scalar ScalarBuilder::minimum(Scalar left, Scalar right) {
  if (left.isFloat())
    return {left.type,
            create<arith::MinimumFOp>(left.value, right.value, fastMath),
            nullptr};
  if (left.isSigned())
    return {left.type, create<arith::MinSIOp>(left.value, right.value),
            nullptr};
  return {left.type, create<arith::MinUIOp>(left.value, right.value), nullptr};
}

Scalar ScalarBuilder::maximum(Scalar left, Scalar right) {
  if (left.isFloat())
    return {left.type,
            create<arith::MaximumFOp>(left.value, right.value, fastMath),
            nullptr};
  if (left.isSigned())
    return {left.type, create<arith::MaxSIOp>(left.value, right.value),
            nullptr};
  return {left.type, create<arith::MaxUIOp>(left.value, right.value), nullptr};
}
