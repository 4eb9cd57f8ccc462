// Reads numbers of other libraries through Python's number protocol.
#include "python/bind/Numbers.h"

namespace py = pybind11;

namespace quern::python {

static bool isPlain(PyObject *object) {
  return !object || object == Py_None || PyFloat_Check(object) ||
         PyLong_Check(object) || PyComplex_Check(object) ||
         PyUnicode_Check(object) || PyList_Check(object) ||
         PyTuple_Check(object);
}

static bool isNumber(PyObject *object) {
  return PyLong_Check(object) || PyFloat_Check(object) ||
         PyComplex_Check(object);
}

/// Scalars and arrays of NumPy and torch say what they hold as Python's own;
/// one of several axes is neither a number nor a list of them.
static PyObject *listOf(PyObject *object) {
  PyObject *list = PyObject_CallMethod(object, "tolist", nullptr);
  bool isFlat = list && PyList_Check(list);
  for (Py_ssize_t i = 0; isFlat && i < PyList_GET_SIZE(list); ++i)
    isFlat = isNumber(PyList_GET_ITEM(list, i));
  if (list && (isFlat || isNumber(list)))
    return list;
  Py_XDECREF(list);
  return nullptr;
}

py::object ownNumber(PyObject *object) {
  if (isPlain(object) || PyType_Check(object))
    return {};
  PyNumberMethods *protocol = Py_TYPE(object)->tp_as_number;
  PyObject *number = nullptr;
  if (PyObject_HasAttrString(object, "tolist"))
    number = listOf(object);
  else if (protocol && protocol->nb_index)
    number = PyNumber_Index(object);
  else if (protocol && protocol->nb_float)
    number = PyNumber_Float(object);
  PyErr_Clear();
  return py::reinterpret_steal<py::object>(number);
}

py::object ownNumbers(PyObject *sequence) {
  if (!PyList_Check(sequence) && !PyTuple_Check(sequence))
    return {};
  py::list numbers;
  bool isChanged = false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    // Its own methods may take it out of the list.
    auto element = py::reinterpret_borrow<py::object>(
        PySequence_Fast_GET_ITEM(sequence, i));
    py::object own = ownNumber(element.ptr());
    isChanged |= static_cast<bool>(own);
    numbers.append(own ? own : element);
  }
  return isChanged ? py::object(numbers) : py::object();
}

} // namespace quern::python
