// The one exception class of the Python interface.
#pragma once

#include "jit/Jit.h"

#include <Python.h>

namespace quern::python {

/// Creates `quern.Error`; a new reference, null with an exception set.
PyObject *createErrorClass();
/// Sets the Python exception for an error of the library: `quern.Error` with
/// the rendered message and the attribute `diagnostics`.
void raise(PyObject *errorClass, const Error &error);

} // namespace quern::python
