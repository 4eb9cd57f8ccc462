// Whether an optional result is there because of the target.
#pragma once

#include "frontend/typed/Declaration.h"

namespace quern::check {

/// The condition on the target that decides whether result `number` of
/// `declaration` is there; null where none does for certain. The host asks for
/// results before it knows what code is made for.
const typed::Expression *decidedByTarget(const typed::Declaration &declaration,
                                         std::size_t number);

} // namespace quern::check
