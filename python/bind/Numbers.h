// Numbers of other libraries, as Python's own.
#pragma once

#include <pybind11/pybind11.h>

namespace quern::python {

/// What counts as a number and is none of Python's own, a NumPy scalar or a
/// tensor without axes; an array gives a list. Null for everything else.
pybind11::object ownNumber(PyObject *object);

/// A list or tuple that holds such numbers, with Python's own in their place;
/// null when it holds none.
pybind11::object ownNumbers(PyObject *sequence);

} // namespace quern::python
