// Limits of the element types.
#include "frontend/typed/TypeValues.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace quern;
using namespace quern::typed;

/// Epsilon and the least normal number as powers of two.
static std::pair<int, int> floatExponents(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3:
    return {-3, -6};
  case ElementType::F8E5M2:
    return {-2, -14};
  case ElementType::F16:
    return {-10, -14};
  case ElementType::BF16:
    return {-7, -126};
  case ElementType::F64:
    return {-52, -1022};
  default:
    return {-23, -126};
  }
}

Constant typed::typeValue(Builtin builtin, ElementType type) {
  if (builtin == Builtin::BitWidth)
    return Constant::ofInteger(bitsOf(type));
  auto [epsilon, tiny] = floatExponents(type);
  if (builtin == Builtin::Epsilon)
    return Constant::ofFloat(std::ldexp(1.0, epsilon));
  if (builtin == Builtin::Tiny)
    return Constant::ofFloat(std::ldexp(1.0, tiny));
  bool isLowest = builtin == Builtin::Lowest;
  std::uint64_t ones = ~std::uint64_t(0) >> (64 - bitsOf(type));
  auto greatest = static_cast<std::int64_t>(ones >> 1);
  switch (kindOf(type)) {
  case ElementKind::Bool:
    return Constant::ofBoolean(!isLowest);
  case ElementKind::Unsigned:
    return Constant::ofUnsigned(isLowest ? 0 : ones);
  case ElementKind::Signed:
    return Constant::ofInteger(isLowest ? -greatest - 1 : greatest);
  case ElementKind::Float:
  case ElementKind::Complex:
    break;
  }
  double infinity = std::numeric_limits<double>::infinity();
  return Constant::ofFloat(isLowest ? -infinity : infinity);
}
