// Masks of constraints.
#include "frontend/check/ElementMask.h"

#include <bit>

using namespace quern;
using namespace quern::check;

ElementMask check::maskOf(typed::Constraint constraint) {
  ElementMask mask = 0;
  forEachElement(allElements, [&](ElementType element) {
    if (typed::admits(constraint, element))
      mask |= maskOf(element);
  });
  return mask;
}

std::optional<ElementType> check::onlyElement(ElementMask mask) {
  if (std::has_single_bit(mask))
    return firstElement(mask);
  return std::nullopt;
}

ElementType check::firstElement(ElementMask mask) {
  return static_cast<ElementType>(std::countr_zero(mask));
}
