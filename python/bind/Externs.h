// Hands the `extern` calls of an `op` to Python.
#pragma once

#include "jit/Jit.h"

#include <memory>

namespace quern::python {

/// Imports the framework when the first call comes.
std::shared_ptr<ExternRunner> makeExternRunner();

} // namespace quern::python
