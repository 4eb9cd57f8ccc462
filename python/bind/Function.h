// A declaration as a Python callable, made for calls below a microsecond.
#pragma once

#include "jit/Jit.h"

#include <Python.h>

namespace quern::python {

/// Readies the callable's Python type; false with an exception set.
bool readyFunctionType();

/// A new callable for a declaration of the module, which holds the module's
/// text and code by itself: the Python object keeps the callable, and not the
/// other way round. The classes are borrowed for as long as the interpreter
/// lives.
PyObject *makeFunction(PyObject *errorClass, PyObject *callErrorClass,
                       const Module &module, const DeclarationInfo &info);

} // namespace quern::python
