// Whether a specialization from a file is one of a declaration.
#pragma once

#include "dsl/Specialization.h"

#include "frontend/typed/Declaration.h"

namespace quern::jit {

/// Files come from other versions and from hands; the compiler takes what a
/// binder has made.
bool fits(const Specialization &given, const typed::Declaration &declaration);

} // namespace quern::jit
