// Products and quotients of complex numbers, part by part.
#include "dsl/irgen/Scalar.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

Scalar ScalarBuilder::multiplyComplex(Scalar left, Scalar right) {
  auto times = [&](Value a, Value b) -> Value {
    return create<arith::MulFOp>(a, b, fastMath);
  };
  Value real =
      create<arith::SubFOp>(times(left.value, right.value),
                            times(left.imaginary, right.imaginary), fastMath);
  Value imaginary =
      create<arith::AddFOp>(times(left.value, right.imaginary),
                            times(left.imaginary, right.value), fastMath);
  return {left.type, real, imaginary};
}

/// Smith's method: the larger part of the divisor divides the smaller one, so
/// that no square overflows. Division by zero divides both parts by it.
Scalar ScalarBuilder::divideComplex(Scalar left, Scalar right) {
  Scalar a{componentOf(left.type), left.value, nullptr}, b = a, c = a, d = a;
  b.value = left.imaginary;
  c.value = right.value;
  d.value = right.imaginary;
  Scalar zero = number(a.type, 0);
  auto magnitude = [&](Scalar x) {
    return Scalar{x.type, create<math::AbsFOp>(x.value), nullptr};
  };
  Scalar cSize = magnitude(c), dSize = magnitude(d);
  Scalar realIsLarger = lessEqual(dSize, cSize);
  Scalar larger = select(realIsLarger, c, d);
  Scalar ratio = divide(select(realIsLarger, d, c), larger);
  Scalar scale =
      divide(number(a.type, 1),
             add(larger, multiply(select(realIsLarger, d, c), ratio)));
  Scalar first = select(realIsLarger, a, b);
  Scalar second = select(realIsLarger, b, a);
  Scalar real = multiply(add(first, multiply(second, ratio)), scale);
  Scalar cross = select(realIsLarger, subtract(b, multiply(a, ratio)),
                        subtract(multiply(b, ratio), a));
  Scalar imaginary = multiply(cross, scale);
  Scalar byZero = bitAnd(equal(cSize, zero), equal(dSize, zero));
  real = select(byZero, divide(a, cSize), real);
  imaginary = select(byZero, divide(b, dSize), imaginary);
  return {left.type, real.value, imaginary.value};
}
