// Says of a tensor that DLPack refuses what it is.
#pragma once

#include <Python.h>

namespace quern::python {

/// Puts that, and what helps, in the place of the exception that is set; else
/// its message behind the parameter's name.
void explainRefusal(PyObject *object, const char *parameter);

} // namespace quern::python
