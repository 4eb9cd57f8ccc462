// Waits for kernels' code where an interrupt of the user's gets through.
#pragma once

#include "jit/Jit.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace quern::python {

/// Does `work` on a thread of its own, without the interpreter's lock, and
/// waits for it. False, with a Python exception set, where a signal's handler
/// raises (Ctrl-C): the work is then asked to stop. Where there is no thread to
/// be had the work is done at once, and cannot be interrupted.
bool awaitWork(std::function<void(std::stop_token)> work);

/// `ready()` of all. Nothing, with a Python exception set, where the user ends
/// the wait.
std::optional<Result<std::monostate>>
awaitCode(std::vector<BoundKernel> kernels);

/// Does so while an `op` is followed, and leaves that exception set.
std::shared_ptr<CodeWaiter> makeCodeWaiter();

} // namespace quern::python
