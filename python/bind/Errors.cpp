// The exceptions of the Python interface: `quern.Error`, and what is both it
// and a `TypeError`.
#define PY_SSIZE_T_CLEAN // lengths behind `#` are Py_ssize_t
#include "python/bind/Errors.h"

namespace quern::python {
namespace {

/// Names of files, which messages hold, are bytes.
PyObject *toText(const std::string &bytes) {
  return PyUnicode_DecodeUTF8(bytes.data(),
                              static_cast<Py_ssize_t>(bytes.size()), "replace");
}

PyObject *toPath(const std::string &bytes) {
  return PyUnicode_DecodeFSDefaultAndSize(
      bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

PyObject *toDict(const Diagnostic &diagnostic) {
  return Py_BuildValue(
      "{s:N,s:N,s:N,s:N,s:i,s:i}", "code", toText(diagnostic.code), "severity",
      toText(diagnostic.severity), "message", toText(diagnostic.message),
      "file", toPath(diagnostic.file), "line", diagnostic.line, "column",
      diagnostic.column);
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

PyObject *createCallErrorClass(PyObject *errorClass) {
  PyObject *bases = PyTuple_Pack(2, errorClass, PyExc_TypeError);
  PyObject *made =
      bases ? PyErr_NewExceptionWithDoc(
                  "quern.CallError",
                  "A call with arguments that are no tensors or numbers, or "
                  "not the right\nnumber of them.",
                  bases, nullptr)
            : nullptr;
  Py_XDECREF(bases);
  return made;
}

/// The exception that is set, whole; a new reference.
static PyObject *takeException() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
}

/// The first line of its message; frameworks add traces of their own.
static std::string messageOf(PyObject *exception) {
  PyObject *text = PyObject_Str(exception);
  const char *data = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string message = data ? data : "unknown error";
  PyErr_Clear();
  Py_XDECREF(text);
  return message.substr(0, message.find('\n'));
}

void explain(const char *what) {
  PyObject *exception = takeException();
  std::string message = messageOf(exception);
  PyErr_Format(PyExc_ValueError, "%s: %s", what, message.c_str());
  Py_XDECREF(exception);
}

void refuseCall(PyObject *callErrorClass) {
  if (!PyErr_ExceptionMatches(PyExc_Exception))
    return;
  PyObject *cause = takeException();
  raise(callErrorClass, Error{messageOf(cause), {}});
  PyObject *exception = takeException();
  PyException_SetCause(exception, cause);
  PyErr_SetObject(callErrorClass, exception);
  Py_DECREF(exception);
}

void raise(PyObject *errorClass, const Error &error) {
  PyObject *message = toText(error.message);
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
