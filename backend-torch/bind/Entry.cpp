// The built-in function that a graph is called by: pybind11's own dispatch
// costs as much as the rest of a small graph's call.
#include "backend-torch/bind/CompiledGraph.h"

namespace py = pybind11;

namespace quern {

static void restore(const std::exception_ptr &error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (py::error_already_set &raised) {
    raised.restore();
  } catch (const py::builtin_exception &raised) {
    raised.set_error();
  } catch (...) {
    torch::translate_exception_to_python(std::current_exception());
  }
}

/// `self` is the graph's Python object, whose only base is its C++ one.
static PyObject *callGraph(PyObject *self, PyObject *arguments) noexcept {
  if (!PyList_CheckExact(arguments)) {
    PyErr_SetString(PyExc_TypeError,
                    "a compiled graph takes one list of arguments");
    return nullptr;
  }
  auto *instance = reinterpret_cast<py::detail::instance *>(self);
  auto *graph = static_cast<const CompiledGraph *>(
      instance->get_value_and_holder().value_ptr());
  try {
    return graph->call(arguments).release().ptr();
  } catch (...) {
    restore(std::current_exception());
    return nullptr;
  }
}

static PyMethodDef definition = {
    "compiled_graph", &callGraph, METH_O,
    "Runs the graph; empties the list of arguments."};

py::object entryOf(const py::object &graph) {
  PyObject *made = PyCFunction_New(&definition, graph.ptr());
  if (!made)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

} // namespace quern
