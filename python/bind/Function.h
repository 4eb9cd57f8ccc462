// A declaration as a Python callable, made for calls below a microsecond.
#pragma once

#include "jit/Jit.h"

#include <Python.h>

namespace quern::python {

/// Readies the callable's Python type; false with an exception set.
bool readyFunctionType();

/// A new callable for a declaration of the module. `errorClass` is borrowed for
/// as long as the interpreter lives; `owner` is kept alive by the callable.
PyObject *makeFunction(PyObject *owner, PyObject *errorClass,
                       PyObject *callErrorClass, const Module &module,
                       const DeclarationInfo &info);

} // namespace quern::python
