// The one exception class of the Python interface.
#define PY_SSIZE_T_CLEAN // lengths behind `#` are Py_ssize_t
#include "python/bind/Errors.h"

namespace quern::python {
namespace {

PyObject *toDict(const Diagnostic &diagnostic) {
  return Py_BuildValue(
      "{s:s#,s:s#,s:s#,s:s#,s:i,s:i}", "code", diagnostic.code.data(),
      static_cast<Py_ssize_t>(diagnostic.code.size()), "severity",
      diagnostic.severity.data(),
      static_cast<Py_ssize_t>(diagnostic.severity.size()), "message",
      diagnostic.message.data(),
      static_cast<Py_ssize_t>(diagnostic.message.size()), "file",
      diagnostic.file.data(), static_cast<Py_ssize_t>(diagnostic.file.size()),
      "line", diagnostic.line, "column", diagnostic.column);
}

PyObject *toList(const std::vector<Diagnostic> &diagnostics) {
  PyObject *list = PyList_New(0);
  for (const Diagnostic &diagnostic : diagnostics) {
    PyObject *entry = list ? toDict(diagnostic) : nullptr;
    if (!entry || PyList_Append(list, entry) != 0) {
      Py_XDECREF(entry);
      Py_XDECREF(list);
      return nullptr;
    }
    Py_DECREF(entry);
  }
  return list;
}

} // namespace

PyObject *createErrorClass() {
  return PyErr_NewExceptionWithDoc(
      "quern.Error",
      "A mistake in a Quern source or in a call of a kernel.\n\n"
      "`str(error)` is the rendered message; `error.diagnostics` lists its "
      "parts\nas dictionaries with code, severity, message, file, line and "
      "column.",
      nullptr, nullptr);
}

void raise(PyObject *errorClass, const Error &error) {
  PyObject *message = PyUnicode_DecodeUTF8(
      error.message.data(), static_cast<Py_ssize_t>(error.message.size()),
      "replace");
  PyObject *exception =
      message ? PyObject_CallOneArg(errorClass, message) : nullptr;
  Py_XDECREF(message);
  PyObject *list = exception ? toList(error.diagnostics) : nullptr;
  if (list && PyObject_SetAttrString(exception, "diagnostics", list) == 0)
    PyErr_SetObject(errorClass, exception);
  Py_XDECREF(list);
  Py_XDECREF(exception);
}

} // namespace quern::python
