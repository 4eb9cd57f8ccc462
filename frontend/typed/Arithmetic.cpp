// Scalar arithmetic by the letter of the specification.
#include "frontend/typed/Arithmetic.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace quern;
using namespace quern::typed;

static bool isFloat(ElementType element) {
  return kindOf(element) == ElementKind::Float;
}

const llvm::fltSemantics &typed::floatSemantics(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3:
    return llvm::APFloat::Float8E4M3FN();
  case ElementType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case ElementType::F16:
    return llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return llvm::APFloat::BFloat();
  case ElementType::F32:
  case ElementType::C64:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

double typed::roundTo(double value, ElementType element) {
  if (element == ElementType::F64)
    return value;
  if (element == ElementType::F32)
    return static_cast<float>(value);
  // `f8e4m3` has no infinity: as in PyTorch the largest number stands for it.
  constexpr double largest = 448;
  if (element == ElementType::F8E4M3 && std::fabs(value) > largest)
    return std::copysign(largest, value);
  // Smaller types are reached through f32, in two roundings.
  llvm::APFloat rounded(static_cast<double>(static_cast<float>(value)));
  bool lost = false;
  rounded.convert(floatSemantics(element), llvm::APFloat::rmNearestTiesToEven,
                  &lost);
  rounded.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
  return rounded.convertToDouble();
}

/// The low bits of `value` as an integer of the type.
static Constant wrap(std::uint64_t value, ElementType element) {
  unsigned bits = bitsOf(element);
  if (kindOf(element) == ElementKind::Bool)
    return Constant::ofBoolean(value != 0);
  if (kindOf(element) == ElementKind::Unsigned)
    return Constant::ofUnsigned(value & llvm::maskTrailingOnes<uint64_t>(bits));
  return Constant::ofInteger(llvm::SignExtend64(value, bits));
}

static Constant saturate(double value, ElementType element) {
  if (std::isnan(value))
    return wrap(0, element);
  value = std::trunc(value);
  unsigned bits = bitsOf(element);
  if (kindOf(element) == ElementKind::Unsigned) {
    if (value <= 0)
      return wrap(0, element);
    if (value >= std::ldexp(1.0, bits))
      return wrap(~0ull, element);
    return wrap(static_cast<std::uint64_t>(value), element);
  }
  std::int64_t least = llvm::minIntN(bits), most = llvm::maxIntN(bits);
  if (value <= static_cast<double>(least))
    return Constant::ofInteger(least);
  if (value >= std::ldexp(1.0, bits - 1))
    return Constant::ofInteger(most);
  return Constant::ofInteger(static_cast<std::int64_t>(value));
}

static double toDouble(const Constant &value) {
  switch (value.kind) {
  case Constant::Kind::Float:
    return value.floating;
  case Constant::Kind::Boolean:
    return value.boolean;
  default:
    return value.isUnsigned
               ? static_cast<double>(static_cast<std::uint64_t>(value.integer))
               : static_cast<double>(value.integer);
  }
}

/// Integers go to f32 in one rounding, not through f64.
static Constant integerToFloat(const Constant &value, ElementType to) {
  if (to == ElementType::F32 && value.kind == Constant::Kind::Integer)
    return Constant::ofFloat(
        value.isUnsigned
            ? static_cast<float>(static_cast<std::uint64_t>(value.integer))
            : static_cast<float>(value.integer));
  return Constant::ofFloat(roundTo(toDouble(value), to));
}

Constant typed::convertLiteral(const Constant &value, ElementType to) {
  bool fromFloat = value.kind == Constant::Kind::Float;
  switch (kindOf(to)) {
  case ElementKind::Bool:
    return Constant::ofBoolean(toDouble(value) != 0);
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    if (fromFloat)
      return saturate(value.floating, to);
    return wrap(value.kind == Constant::Kind::Boolean
                    ? value.boolean
                    : static_cast<std::uint64_t>(value.integer),
                to);
  case ElementKind::Float:
    return fromFloat ? Constant::ofFloat(roundTo(value.floating, to))
                     : integerToFloat(value, to);
  case ElementKind::Complex:
    return Constant::ofFloat(roundTo(toDouble(value), to == ElementType::C64
                                                          ? ElementType::F32
                                                          : ElementType::F64));
  }
  llvm_unreachable("all kinds of element convert");
}

Constant typed::convert(const Constant &value, ElementType from,
                        ElementType to) {
  return convertLiteral(value, to);
}

/// What the remainder leaves, divided: rounded step by step, as code does it
/// in the compute type.
static double floorOfQuotient(double a, double b, double remainder,
                              bool otherSign, ElementType element) {
  ElementType step =
      element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  double quotient = roundTo(roundTo(a - remainder, step) / b, step);
  if (otherSign)
    quotient = roundTo(quotient - 1, step);
  if (quotient == 0)
    return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  return roundTo(quotient - floored > 0.5 ? floored + 1 : floored, element);
}

static Constant applyFloat(BinaryOperator op, double a, double b,
                           ElementType element) {
  double remainder = 0;
  switch (op) {
  case BinaryOperator::Add:
    return Constant::ofFloat(roundTo(a + b, element));
  case BinaryOperator::Sub:
    return Constant::ofFloat(roundTo(a - b, element));
  case BinaryOperator::Mul:
    return Constant::ofFloat(roundTo(a * b, element));
  case BinaryOperator::Div:
    return Constant::ofFloat(roundTo(a / b, element));
  case BinaryOperator::Mod:
  case BinaryOperator::FloorDiv:
    break;
  default:
    llvm_unreachable("operator does not apply to floats");
  }
  remainder = std::fmod(a, b);
  bool otherSign = remainder != 0 && (remainder < 0) != (b < 0);
  if (op == BinaryOperator::Mod && remainder == 0)
    return Constant::ofFloat(std::copysign(0.0, b));
  if (op == BinaryOperator::Mod)
    return Constant::ofFloat(
        roundTo(otherSign ? remainder + b : remainder, element));
  if (b == 0)
    return Constant::ofFloat(roundTo(a / b, element));
  return Constant::ofFloat(
      floorOfQuotient(a, b, remainder, otherSign, element));
}

static Constant shift(BinaryOperator op, const Constant &left,
                      const Constant &right, ElementType element) {
  unsigned bits = bitsOf(element);
  bool isSigned = kindOf(element) == ElementKind::Signed;
  bool isNegative = isSigned && left.integer < 0;
  bool isOut = right.isUnsigned || right.integer < 0 || right.integer >= bits;
  auto raw = static_cast<std::uint64_t>(left.integer);
  if (isOut)
    return wrap(op == BinaryOperator::ShiftRight && isNegative ? ~0ull : 0,
                element);
  if (op == BinaryOperator::ShiftLeft)
    return wrap(raw << right.integer, element);
  if (isSigned)
    return Constant::ofInteger(left.integer >> right.integer);
  return wrap(raw >> right.integer, element);
}

static Constant floorDivide(const Constant &left, const Constant &right,
                            bool wantsRemainder, ElementType element) {
  auto a = static_cast<std::uint64_t>(left.integer);
  auto b = static_cast<std::uint64_t>(right.integer);
  if (b == 0)
    return wrap(0, element);
  if (kindOf(element) == ElementKind::Unsigned)
    return wrap(wantsRemainder ? a % b : a / b, element);
  if (right.integer == -1)
    return wrap(wantsRemainder ? 0 : 0 - a, element);
  std::int64_t quotient = left.integer / right.integer;
  std::int64_t rest = left.integer % right.integer;
  if (rest != 0 && (rest < 0) != (right.integer < 0)) {
    --quotient;
    rest += right.integer;
  }
  return Constant::ofInteger(wantsRemainder ? rest : quotient);
}

static Constant applyInteger(BinaryOperator op, const Constant &left,
                             const Constant &right, ElementType element) {
  auto a = static_cast<std::uint64_t>(left.integer);
  auto b = static_cast<std::uint64_t>(right.integer);
  switch (op) {
  case BinaryOperator::Add:
    return wrap(a + b, element);
  case BinaryOperator::Sub:
    return wrap(a - b, element);
  case BinaryOperator::Mul:
    return wrap(a * b, element);
  case BinaryOperator::FloorDiv:
    return floorDivide(left, right, false, element);
  case BinaryOperator::Mod:
    return floorDivide(left, right, true, element);
  case BinaryOperator::BitAnd:
    return wrap(a & b, element);
  case BinaryOperator::BitOr:
    return wrap(a | b, element);
  case BinaryOperator::BitXor:
    return wrap(a ^ b, element);
  case BinaryOperator::ShiftLeft:
  case BinaryOperator::ShiftRight:
    return shift(op, left, right, element);
  default:
    llvm_unreachable("operator does not apply to integers");
  }
}

static bool compare(BinaryOperator op, const Constant &left,
                    const Constant &right, ElementType element) {
  auto decide = [op](auto a, auto b) {
    switch (op) {
    case BinaryOperator::Equal:
      return a == b;
    case BinaryOperator::NotEqual:
      return a != b;
    case BinaryOperator::Less:
      return a < b;
    case BinaryOperator::LessEqual:
      return a <= b;
    case BinaryOperator::Greater:
      return a > b;
    default:
      return a >= b;
    }
  };
  if (left.kind == Constant::Kind::String)
    return decide(left.string.compare(right.string), 0);
  if (kindOf(element) == ElementKind::Bool)
    return decide(left.boolean, right.boolean);
  if (isFloat(element))
    return decide(toDouble(left), toDouble(right));
  if (kindOf(element) == ElementKind::Unsigned)
    return decide(static_cast<std::uint64_t>(left.integer),
                  static_cast<std::uint64_t>(right.integer));
  return decide(left.integer, right.integer);
}

static bool applyBoolean(BinaryOperator op, bool a, bool b) {
  switch (op) {
  case BinaryOperator::And:
  case BinaryOperator::BitAnd:
    return a && b;
  case BinaryOperator::Or:
  case BinaryOperator::BitOr:
    return a || b;
  case BinaryOperator::BitXor:
    return a != b;
  default:
    llvm_unreachable("operator does not apply to bools");
  }
}

Constant typed::apply(BinaryOperator op, const Constant &left,
                      const Constant &right, ElementType element) {
  if (isComparison(op))
    return Constant::ofBoolean(compare(op, left, right, element));
  if (kindOf(element) == ElementKind::Bool)
    return Constant::ofBoolean(applyBoolean(op, left.boolean, right.boolean));
  if (isFloat(element))
    return applyFloat(op, toDouble(left), toDouble(right), element);
  return applyInteger(op, left, right, element);
}

Constant typed::apply(UnaryOperator op, const Constant &operand,
                      ElementType element) {
  if (op == UnaryOperator::Not ||
      (op == UnaryOperator::BitNot && kindOf(element) == ElementKind::Bool))
    return Constant::ofBoolean(!operand.boolean);
  if (isFloat(element))
    return Constant::ofFloat(-toDouble(operand));
  auto raw = static_cast<std::uint64_t>(operand.integer);
  return wrap(op == UnaryOperator::BitNot ? ~raw : 0 - raw, element);
}

std::optional<Constant>
typed::applyExactly(BinaryOperator op, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (op) {
  case BinaryOperator::Add:
    overflows = __builtin_add_overflow(left, right, &result);
    break;
  case BinaryOperator::Sub:
    overflows = __builtin_sub_overflow(left, right, &result);
    break;
  case BinaryOperator::Mul:
    overflows = __builtin_mul_overflow(left, right, &result);
    break;
  case BinaryOperator::FloorDiv:
    if (right == -1) {
      overflows = __builtin_sub_overflow(0ll, left, &result);
      break;
    }
    [[fallthrough]];
  default:
    return apply(op, Constant::ofInteger(left), Constant::ofInteger(right),
                 ElementType::I64);
  }
  if (overflows)
    return std::nullopt;
  return Constant::ofInteger(result);
}
