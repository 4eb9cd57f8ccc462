// Rounds Python numbers to element types and prints them.
#include "backend-torch/ops/Literals.h"
#include "backend-torch/ops/Promotion.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace quern {

namespace {
/// A float format narrower than f64: how long its significands are, and the
/// exponent of its least normal number.
struct Format {
  int digits, leastExponent;
  double largest;
};
} // namespace

static std::optional<Format> formatOf(DType type) {
  using Float = std::numeric_limits<float>;
  if (type == DType::F16)
    return Format{11, -14, 65504.0};
  if (type == DType::BF16)
    return Format{8, -126, 0x1.fep+127};
  if (type == DType::F32)
    return Format{Float::digits, Float::min_exponent - 1, Float::max()};
  return std::nullopt;
}

/// Ties go to even.
static double roundedTo(const Format &format, double value) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent = std::ilogb(value);
  int unit = std::max(exponent, format.leastExponent) - format.digits + 1;
  double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(result) <= format.largest
             ? result
             : std::copysign(std::numeric_limits<double>::infinity(), value);
}

/// The shortest text that the language reads as this number in its type.
static std::string shortest(double value, bool isDouble) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char text[40];
  auto end = isDouble ? std::to_chars(text, text + sizeof(text), value).ptr
                      : std::to_chars(text, text + sizeof(text),
                                      static_cast<float>(value))
                            .ptr;
  std::string result(text, end);
  bool isPlain = result.find_first_of(".e") == std::string::npos;
  return isPlain ? result + ".0" : result;
}

/// ATen rounds to 32 bits before it rounds to 16.
static std::optional<std::string> realLiteral(double value, DType type,
                                              NumberCheck check) {
  std::optional<Format> format = formatOf(type);
  if (!format)
    return shortest(value, true);
  bool isTooLarge = std::isfinite(value) && std::abs(value) > format->largest;
  if (isTooLarge && check == NumberCheck::MustFit)
    return std::nullopt;
  double single = roundedTo(*formatOf(DType::F32), value);
  return shortest(roundedTo(*format, single), false);
}

/// As the type holds it: torch lets negative numbers wrap in unsigned types.
static std::int64_t heldBy(DType type, std::int64_t number) {
  std::int64_t values = type == DType::U8    ? 1ll << 8
                        : type == DType::U16 ? 1ll << 16
                        : type == DType::U32 ? 1ll << 32
                                             : 0;
  return number < 0 && number > -values ? number + values : number;
}

/// The number with the same low bits that the type has.
static std::int64_t wrappedTo(DType type, std::int64_t number) {
  switch (type) {
  case DType::I8:
    return static_cast<std::int8_t>(number);
  case DType::I16:
    return static_cast<std::int16_t>(number);
  case DType::I32:
    return static_cast<std::int32_t>(number);
  case DType::U8:
    return static_cast<std::uint8_t>(number);
  case DType::U16:
    return static_cast<std::uint16_t>(number);
  case DType::U32:
    return static_cast<std::uint32_t>(number);
  default:
    return number;
  }
}

NumberCheck checkOf(const Node &node, std::string_view argument) {
  bool isChosen =
      std::ranges::any_of(node.arguments, [](const NamedArgument &each) {
        return each.name == "condition";
      });
  bool isOperand = !isChosen && (argument == "other" || argument == "self");
  return isOperand ? NumberCheck::Rounds : NumberCheck::MustFit;
}

std::optional<std::string> literalOf(const GraphArgument &argument, DType type,
                                     NumberCheck check) {
  using Kind = GraphArgument::Kind;
  bool isNumber = argument.kind == Kind::Int || argument.kind == Kind::Float ||
                  argument.kind == Kind::Bool;
  if (argument.kind == Kind::Complex && isComplex(type))
    return std::string(spelling(type)) + "(complex(f64(" +
           shortest(argument.real, true) + "), f64(" +
           shortest(argument.imaginary, true) + ")))";
  if (!isNumber)
    return std::nullopt;
  double real = argument.kind == Kind::Float ? argument.real
                : type == DType::F64 ? static_cast<double>(argument.integer)
                                     : static_cast<float>(argument.integer);
  if (type == DType::Bool)
    return real != 0 ? "true" : "false";
  if (!isInteger(type))
    return realLiteral(real, type, check);
  if (argument.kind == Kind::Float)
    return std::nullopt;
  return std::to_string(check == NumberCheck::Rounds
                            ? wrappedTo(type, argument.integer)
                            : heldBy(type, argument.integer));
}

} // namespace quern
