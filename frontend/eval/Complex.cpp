// Arithmetic of complex numbers, each step rounded to the type of a part.
#include "frontend/eval/Complex.h"

#include <cmath>
#include <limits>

namespace quern::eval {

using typed::BinaryOperator;

namespace {

/// A part of a complex number. One operation in f64, rounded to f32, is the
/// operation in f32.
struct Part {
  double value;
  bool isNarrow;

  Part made(double result) const {
    return {isNarrow ? static_cast<float>(result) : result, isNarrow};
  }
  Part operator+(Part b) const { return made(value + b.value); }
  Part operator-(Part b) const { return made(value - b.value); }
  Part operator*(Part b) const { return made(value * b.value); }
  Part operator/(Part b) const { return made(value / b.value); }
  Part magnitude() const { return made(std::fabs(value)); }
};

struct Parts {
  Part real, imaginary;
  explicit Parts(const Value &z)
      : real{z.real.floating, z.type == ElementType::C64},
        imaginary{z.imaginary, z.type == ElementType::C64} {}
};

Value complexOf(ElementType type, Part real, Part imaginary) {
  return Value::complex(type, real.value, imaginary.value);
}

/// Smith's method; by zero both parts are divided by it.
Value quotient(ElementType type, const Parts &left, const Parts &right) {
  Part a = left.real, b = left.imaginary;
  Part c = right.real, d = right.imaginary;
  Part cSize = c.magnitude(), dSize = d.magnitude();
  if (cSize.value == 0 && dSize.value == 0)
    return complexOf(type, a / cSize, b / dSize);
  bool realIsLarger = dSize.value <= cSize.value;
  Part larger = realIsLarger ? c : d, smaller = realIsLarger ? d : c;
  Part ratio = smaller / larger;
  Part scale = a.made(1) / (larger + smaller * ratio);
  Part real = realIsLarger ? a + b * ratio : b + a * ratio;
  Part imaginary = realIsLarger ? b - a * ratio : b * ratio - a;
  return complexOf(type, real * scale, imaginary * scale);
}

} // namespace

Value complexBinary(BinaryOperator op, const Value &a, const Value &b) {
  Parts x(a), y(b);
  switch (op) {
  case BinaryOperator::Add:
    return complexOf(a.type, x.real + y.real, x.imaginary + y.imaginary);
  case BinaryOperator::Sub:
    return complexOf(a.type, x.real - y.real, x.imaginary - y.imaginary);
  case BinaryOperator::Mul:
    return complexOf(a.type, x.real * y.real - x.imaginary * y.imaginary,
                     x.real * y.imaginary + x.imaginary * y.real);
  case BinaryOperator::Div:
    return quotient(a.type, x, y);
  default: {
    bool isEqual =
        x.real.value == y.real.value && x.imaginary.value == y.imaginary.value;
    return Value::boolean((op == BinaryOperator::Equal) == isEqual);
  }
  }
}

Value modulus(const Value &z) {
  Parts parts(z);
  Part re = parts.real.magnitude(), im = parts.imaginary.magnitude();
  ElementType type =
      z.type == ElementType::C64 ? ElementType::F32 : ElementType::F64;
  auto result = [&](Part value) {
    return Value::of(type, Constant::ofFloat(value.value));
  };
  if (std::isinf(re.value) || std::isinf(im.value))
    return result(re.made(std::numeric_limits<double>::infinity()));
  if (std::isnan(re.value) || std::isnan(im.value))
    return result(re.made(std::numeric_limits<double>::quiet_NaN()));
  Part large = re.value > im.value ? re : im;
  Part small = re.value > im.value ? im : re;
  if (large.value == 0)
    return result(large);
  Part ratio = small / large;
  Part sum = re.made(1) + ratio * ratio;
  return result(large * re.made(std::sqrt(sum.value)));
}

} // namespace quern::eval
