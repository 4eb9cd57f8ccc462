// Whether `merge(a, b)` and `merge(b, a)` are the same text.
#pragma once

#include "frontend/typed/Declaration.h"

namespace quern::check {

/// Whether exchanging the states of a `merge` is seen to change nothing: the
/// body is read beside itself, one state for the other, up to the order of
/// operands that an operator does not care about. False says nothing.
bool commutes(const typed::ReductionPart &merge);

} // namespace quern::check
