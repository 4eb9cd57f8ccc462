// The extension module `_quern_torch`.
#include "backend-torch/bind/CompiledGraph.h"

namespace py = pybind11;
using namespace quern;

static void bindBuilder(py::module_ &module) {
  py::class_<GraphBuilder>(module, "GraphBuilder")
      .def(py::init<const std::string &>())
      .def("constant", &GraphBuilder::constant)
      .def("real", &GraphBuilder::real)
      .def("symbol", &GraphBuilder::symbol)
      .def("apply", &GraphBuilder::apply)
      .def("input", &GraphBuilder::input)
      .def("constant_node", &GraphBuilder::constantNode)
      .def("call", &GraphBuilder::call)
      .def("scalar", &GraphBuilder::scalar)
      .def("host", &GraphBuilder::host)
      .def("output", &GraphBuilder::output)
      .def("__str__", &GraphBuilder::print);
}

static py::dict countersOf(const Recorder &recorder) {
  RunCounters counters = recorder.read();
  py::dict result;
  result["graphs"] = counters.graphs;
  result["calls"] = counters.calls;
  result["launches"] = counters.launches;
  result["fallbacks"] = counters.fallbacks;
  result["preferred"] = counters.preferred;
  result["random"] = counters.random;
  return result;
}

PYBIND11_MODULE(_quern_torch, module) {
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error)
        std::rethrow_exception(error);
    } catch (const c10::Error &) {
      torch::translate_exception_to_python(error);
    }
  });
  bindBuilder(module);
  py::class_<Backend>(module, "Backend")
      .def(py::init<>())
      .def("overloads",
           [](const Backend &backend) { return backend.table.overloads(); })
      .def("counters",
           [](const Backend &backend) { return countersOf(*backend.recorder); })
      .def("reset", [](const Backend &backend) { backend.recorder->reset(); });
  py::class_<CompiledGraph>(module, "CompiledGraph", py::dynamic_attr())
      .def(py::init([](GraphBuilder &builder, Backend &backend, bool kernels,
                       bool fuse, bool codeNow,
                       std::optional<py::function> trace) {
             return std::make_unique<CompiledGraph>(
                 builder, backend,
                 GraphOptions{kernels, fuse, codeNow, std::move(trace)});
           }),
           py::arg("builder"), py::arg("backend"), py::kw_only(),
           py::arg("kernels"), py::arg("fuse"), py::arg("code_now"),
           py::arg("trace"), py::keep_alive<1, 3>())
      .def("__call__", &CompiledGraph::call)
      .def("graph_text", &CompiledGraph::printGraph)
      .def("groups_text", &CompiledGraph::printGroups)
      .def("program_text", &CompiledGraph::programText)
      .def("plan_text", &CompiledGraph::printPlan)
      .def("opaque", &CompiledGraph::opaque);
}
