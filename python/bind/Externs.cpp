// Hands the `extern` calls of an `op` to Python's `quern._extern`.
#include "python/bind/Externs.h"

#include "python/bind/ElementTypes.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace quern::python {
namespace {

py::tuple described(const TensorView &view) {
  return py::make_tuple(
      numpyName(view.type),
      std::vector<std::int64_t>(view.sizes.begin(), view.sizes.end()),
      std::vector<std::int64_t>(view.strides.begin(), view.strides.end()),
      reinterpret_cast<std::uintptr_t>(view.data));
}

struct ToPython {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(const TensorView &view) const {
    return described(view);
  }
  py::object operator()(const std::vector<TensorView> &views) const {
    py::list list;
    for (const TensorView &view : views)
      list.append(described(view));
    return list;
  }
  template <typename T> py::object operator()(const T &value) const {
    return py::cast(value);
  }
};

py::list argumentsOf(const ExternCall &call) {
  py::list list;
  for (const auto &[name, argument] : call.arguments)
    list.append(py::make_tuple(name, std::visit(ToPython(), argument)));
  return list;
}

/// What went wrong, without the Python frames that led there.
Error errorOf(const ExternCall &call, const std::exception &problem) {
  std::string reason = problem.what();
  const auto *raised = dynamic_cast<const py::error_already_set *>(&problem);
  try {
    if (raised)
      reason = py::str(raised->value());
  } catch (const py::error_already_set &) { // its message is no text
    auto shown = py::reinterpret_steal<py::object>(
        PyObject_ASCII(raised->value().ptr()));
    PyErr_Clear();
    reason = shown ? py::cast<std::string>(shown) : "an error without a text";
  }
  return Error{"`" + call.symbol + "`: " + reason, {}};
}

class Runner : public ExternRunner {
public:
  Result<std::vector<TensorSpec>> infer(const ExternCall &call) override {
    py::gil_scoped_acquire locked;
    try {
      std::vector<TensorSpec> specs;
      py::object given = module().attr("infer")(call.symbol, argumentsOf(call));
      for (py::handle each : given) {
        auto [name, sizes] =
            each.cast<std::pair<std::string, std::vector<std::int64_t>>>();
        auto type = typeNamed(name);
        if (!type)
          return Error{"`" + call.symbol + "` gives elements of type `" + name +
                           "`, which the language does not have",
                       {}};
        specs.push_back({*type, std::move(sizes)});
      }
      return specs;
    } catch (const std::exception &problem) {
      return errorOf(call, problem);
    }
  }

  Result<std::monostate> run(const ExternCall &call,
                             std::span<const TensorView> results) override {
    py::gil_scoped_acquire locked;
    try {
      py::list targets;
      for (const TensorView &result : results)
        targets.append(described(result));
      module().attr("run")(call.symbol, argumentsOf(call), targets);
      return std::monostate();
    } catch (const std::exception &problem) {
      return errorOf(call, problem);
    }
  }

private:
  static py::module_ module() { return py::module_::import("quern._extern"); }
};

} // namespace

std::shared_ptr<ExternRunner> makeExternRunner() {
  return std::make_shared<Runner>();
}

} // namespace quern::python
