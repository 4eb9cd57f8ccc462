// Barriers that not all threads of a block reach, where that is certain.
#pragma once

#include "frontend/typed/Declaration.h"

namespace quern::check {

/// `decides`, a condition or a bound of a loop, differs between threads and
/// stands around `barrier`; both are null where nothing of that kind is known.
struct DividedBarrier {
  const typed::Expression *decides = nullptr, *barrier = nullptr;
};

/// The first of a kernel's body, whose block is known when it is checked.
DividedBarrier dividedBarrier(const typed::Declaration &kernel);

} // namespace quern::check
