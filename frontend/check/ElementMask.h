// Sets of element types: what a symbolic type may turn out to be.
#pragma once

#include "frontend/typed/ScalarType.h"

namespace quern::check {

/// One bit per ElementType.
using ElementMask = std::uint32_t;

inline constexpr unsigned elementCount =
    static_cast<unsigned>(ElementType::C128) + 1;
inline constexpr ElementMask allElements = (1u << elementCount) - 1;

inline ElementMask maskOf(ElementType element) {
  return 1u << static_cast<unsigned>(element);
}

/// The elements that a constraint admits.
ElementMask maskOf(typed::Constraint constraint);

/// Calls `visit` for every element of the mask.
template <typename Visit> void forEachElement(ElementMask mask, Visit visit) {
  for (unsigned i = 0; i != elementCount; ++i)
    if (mask & 1u << i)
      visit(static_cast<ElementType>(i));
}

/// The only element of the mask, if it has just one.
std::optional<ElementType> onlyElement(ElementMask mask);
/// Any element of a mask that is not empty, for messages.
ElementType firstElement(ElementMask mask);

} // namespace quern::check
