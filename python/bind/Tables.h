// The compiler's tables as Python values.
#pragma once

#include "jit/Jit.h"

#include <pybind11/pybind11.h>

namespace quern::python {

/// A dictionary for each declaration of a module.
pybind11::list declarationsOf(const Module &module);
/// What the checker warned about, rendered.
pybind11::list warningsOf(const Module &module);
/// Adds `options` and `variables` to the extension module.
void bindTables(pybind11::module_ &module);
/// "elementwise", "op" and so on.
const char *kindName(DeclarationKind kind);

} // namespace quern::python
