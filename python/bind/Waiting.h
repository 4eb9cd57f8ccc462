// Waits for a kernel's code where an interrupt of the user's gets through.
#pragma once

#include "jit/Jit.h"

#include <optional>

namespace quern::python {

/// `kernel.ready()` without the interpreter's lock. Nothing, with a Python
/// exception set, where a signal's handler raises (Ctrl-C): the compiler then
/// ends its work unheard, and the next call finds the code.
std::optional<Result<std::monostate>> awaitCode(BoundKernel kernel);

} // namespace quern::python
