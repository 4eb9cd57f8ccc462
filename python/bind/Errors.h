// The one exception class of the Python interface.
#pragma once

#include "jit/Jit.h"

#include <Python.h>

namespace quern::python {

/// Creates `quern.Error`; a new reference, null with an exception set.
PyObject *createErrorClass();
/// Creates the class of calls that do not come to the binder: `quern.Error` and
/// `TypeError`, as of any call with arguments of the wrong kind.
PyObject *createCallErrorClass(PyObject *errorClass);
/// Makes the exception that is set one of that class, with the old one as its
/// cause.
void refuseCall(PyObject *callErrorClass);
/// Puts `what` in front of the message of the exception that is set.
void explain(const char *what);
/// Sets the Python exception for an error of the library: `quern.Error` with
/// the rendered message and the attribute `diagnostics`.
void raise(PyObject *errorClass, const Error &error);

} // namespace quern::python
