// The extension module `_quern`: sessions and modules for Python.
#include "python/bind/Errors.h"
#include "python/bind/Externs.h"
#include "python/bind/Function.h"
#include "python/bind/HostThreads.h"
#include "python/bind/Tables.h"
#include "python/bind/Waiting.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace quern::python {
namespace {

PyObject *errorClass(const char *name = "Error") {
  return py::module_::import("_quern").attr(name).ptr();
}

template <typename T> T valueOrThrow(Result<T> result) {
  if (result)
    return std::move(*result);
  raise(errorClass(), result.error());
  throw py::error_already_set();
}

/// A module object's attribute: the declaration of that name, made on first
/// use and kept in the object's own dictionary.
py::object attributeOf(py::object self, const std::string &name) {
  const Module &module = self.cast<const Module &>();
  for (const DeclarationInfo &info : module.declarations()) {
    if (info.name != name)
      continue;
    py::object function = py::reinterpret_steal<py::object>(makeFunction(
        errorClass("Error"), errorClass("CallError"), module, info));
    if (!function)
      throw py::error_already_set();
    self.attr("__dict__")[py::str(name)] = function;
    return function;
  }
  std::string hint = module.hintFor(name);
  throw py::attribute_error("the module declares no `" + name + "`" +
                            (hint.empty() ? "" : "; " + hint));
}

std::vector<std::string> namesOf(const Module &module) {
  std::vector<std::string> names;
  for (const DeclarationInfo &info : module.declarations())
    names.push_back(info.name);
  return names;
}

std::string represent(const Module &module) {
  std::string text;
  for (const std::string &name : namesOf(module))
    text += (text.empty() ? "" : ", ") + name;
  return "<quern module: " + text + ">";
}

std::shared_ptr<Session> makeSession(int threads, const std::string &cache,
                                     const std::string &target) {
  findHostThreads();
  SessionOptions options;
  options.threads = threads;
  options.threadsNow = hostThreads;
  options.cacheDirectory = cache;
  options.target = target;
  auto session = valueOrThrow(Session::create(options));
  session->setExternRunner(makeExternRunner());
  session->setCodeWaiter(makeCodeWaiter());
  return session;
}

/// A module that `make` makes while the user may end the wait.
Module awaitModule(std::function<Result<Module>(std::stop_token)> make) {
  auto made = std::make_shared<std::optional<Result<Module>>>();
  if (!awaitWork([made, make = std::move(make)](std::stop_token stop) {
        *made = make(std::move(stop));
      }))
    throw py::error_already_set();
  return valueOrThrow(std::move(**made));
}

Module compileText(const std::shared_ptr<Session> &session, std::string source,
                   std::string name, const std::string &bounds) {
  if (bounds != "proved" && bounds != "all")
    throw py::value_error("`bounds` is `" + bounds +
                          "`, must be one of `proved`, `all`");
  Module module = awaitModule([=](std::stop_token stop) {
    return session->compile(source, name, std::move(stop));
  });
  return bounds == "all" ? module.keepingChecks() : module;
}

Module loadFile(const std::shared_ptr<Session> &session, std::string path) {
  return awaitModule([=](std::stop_token stop) {
    return session->load(path, std::move(stop));
  });
}

py::dict toDict(const OperatorRow &row) {
  py::dict result;
  result["overload"] = row.overload;
  result["declaration"] = row.declaration;
  result["module"] = row.module;
  result["file"] = row.file;
  result["line"] = row.line;
  result["kind"] = kindName(row.kind);
  py::list parameters;
  for (const ParameterInfo &parameter : row.parameters)
    parameters.append(
        py::make_tuple(parameter.name, parameter.type, parameter.compileTime));
  result["parameters"] = parameters;
  result["results"] = row.results;
  result["dtypes"] = row.dtypes;
  result["bindings"] = row.bindings;
  result["backward"] = row.backward;
  return result;
}

py::list operatorsOf(const Session &session) {
  py::list rows;
  for (const OperatorRow &row : valueOrThrow(session.operators()))
    rows.append(toDict(row));
  return rows;
}

py::dict countersOf(const Session &session) {
  Counters counters = session.counters();
  py::dict result;
  result["compiles"] = counters.compiles;
  result["disk_hits"] = counters.diskHits;
  result["launches"] = counters.launches;
  return result;
}

void bindSession(py::module_ &module) {
  py::class_<Session, std::shared_ptr<Session>>(module, "Session")
      .def(py::init(&makeSession), py::arg("threads") = 0,
           py::arg("cache") = "", py::arg("target") = "")
      .def("compile", &compileText, py::arg("source"),
           py::arg("name") = "<string>", py::arg("bounds") = "proved")
      .def("load", &loadFile)
      .def("library",
           [](const Session &session, const std::string &name) {
             return valueOrThrow(session.libraryModule(name));
           })
      .def("operators", &operatorsOf)
      .def("set_threads",
           [](Session &session, int threads) {
             valueOrThrow(session.setThreads(threads));
           })
      .def("counters", &countersOf);
}

} // namespace
} // namespace quern::python

// Made by `PyInit__quern` below, once the interpreter is known to be the main
// one: pybind11 waits for that one's lock before anything else.
#define PyInit__quern makeQuernModule
PYBIND11_MODULE(_quern, module) {
  using namespace quern::python;
  if (!readyFunctionType())
    throw py::error_already_set();
  PyObject *error = createErrorClass();
  if (!error)
    throw py::error_already_set();
  module.attr("Error") = py::reinterpret_steal<py::object>(error);
  PyObject *callError = createCallErrorClass(error);
  if (!callError)
    throw py::error_already_set();
  module.attr("CallError") = py::reinterpret_steal<py::object>(callError);
  py::class_<quern::Module>(module, "Module", py::dynamic_attr())
      .def("__getattr__", &attributeOf)
      .def("__dir__", &namesOf)
      .def("__repr__", &represent);
  bindSession(module);
  bindTables(module);
}
#undef PyInit__quern

extern "C" PYBIND11_EXPORT PyObject *PyInit__quern() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main())
    return makeQuernModule();
  PyErr_SetString(PyExc_ImportError,
                  "Quern works in the main interpreter only, not in "
                  "sub-interpreters; use a process");
  return nullptr;
}
