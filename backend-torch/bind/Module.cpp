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
  result["aten_calls"] = counters.atenCalls;
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
  py::class_<Recorder, std::shared_ptr<Recorder>>(module, "Recorder")
      .def(py::init<>())
      .def("read", &countersOf)
      .def("reset", &Recorder::reset);
  py::class_<CompiledGraph>(module, "CompiledGraph", py::dynamic_attr())
      .def(py::init<GraphBuilder &, std::shared_ptr<Recorder>,
                    std::optional<py::function>>(),
           py::arg("builder"), py::arg("recorder"), py::arg("trace"))
      .def("__call__", &CompiledGraph::call)
      .def("graph_text", &CompiledGraph::printGraph)
      .def("plan_text", &CompiledGraph::printPlan)
      .def("operator_calls", &CompiledGraph::operatorCalls);
}
