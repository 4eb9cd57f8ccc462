// Waits for kernels' code where an interrupt of the user's gets through.
#pragma once

#include "jit/Jit.h"

#include <memory>
#include <optional>
#include <vector>

namespace quern::python {

/// `ready()` of all without the interpreter's lock. Nothing, with a Python
/// exception set, where a signal's handler raises (Ctrl-C): the compiler then
/// ends its work unheard, and the next call finds the code.
std::optional<Result<std::monostate>>
awaitCode(std::vector<BoundKernel> kernels);

/// Does so while an `op` is followed, and leaves that exception set.
std::shared_ptr<CodeWaiter> makeCodeWaiter();

} // namespace quern::python
