// The extension module, whose name says which minor release of torch it is for.
#include "backend-torch/bind/CompiledGraph.h"
#include "backend-torch/ops/Preferred.h"

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
      .def("seed", &GraphBuilder::seed)
      .def("call", &GraphBuilder::call)
      .def("scalar", &GraphBuilder::scalar)
      .def("host", &GraphBuilder::host)
      .def("output", &GraphBuilder::output)
      .def("defines_sizes", &GraphBuilder::definesSizes)
      .def("assume", &GraphBuilder::assume)
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

static std::map<std::string, std::int64_t> usageOf(const Backend &backend) {
  MemoryUsage usage = backend.memory->usage();
  return {
      {"in_use", usage.inUse}, {"peak", usage.peak}, {"mapped", usage.mapped}};
}

/// What the tables say of operators by name.
static void bindTables(py::module_ &module) {
  module.def("is_symbolic", &isSymbolic);
  module.def("is_assertion", &isAssertion);
  module.def("is_allocation", &isAllocation);
  module.def("is_reshape", [](const std::string &overload) {
    return viewKindOf(overload) == ViewKind::Reshape;
  });
  module.def("keeps_axes", [](const std::string &overload) {
    std::optional<ViewKind> kind = viewKindOf(overload);
    return kind == ViewKind::Permute || kind == ViewKind::Transpose ||
           kind == ViewKind::Part;
  });
  module.def("preferred_as", &preferredAs);
  module.def("permute_name", [] { return nameOf(ViewKind::Permute); });
  module.def("expand_name", [] { return nameOf(ViewKind::Expand); });
  module.def("copy_name", [] { return nameOf(Primitive::Copy); });
}

/// pybind11 has looked at what it was given.
static py::object callWith(const CompiledGraph &graph,
                           const py::list &arguments) {
  return graph.call(arguments);
}

static void bindBackend(py::module_ &module) {
  py::class_<Backend>(module, "Backend")
      .def(py::init<>())
      .def("overloads",
           [](const Backend &backend) { return backend.table->overloads(); })
      .def("counters",
           [](const Backend &backend) { return countersOf(*backend.recorder); })
      .def("session_counters",
           [](const Backend &backend) {
             Counters counters = backend.sessionCounters();
             return std::map<std::string, std::int64_t>{
                 {"compiles", counters.compiles},
                 {"disk_hits", counters.diskHits}};
           })
      .def("memory", &usageOf)
      .def("add_module", &Backend::addModule)
      .def("identity", &Backend::identity)
      .def("reset", [](const Backend &backend) { backend.recorder->reset(); });
}

PYBIND11_MODULE(QUERN_TORCH_MODULE, module) {
  bindBuilder(module);
  bindTables(module);
  bindBackend(module);
  py::class_<CompiledGraph>(module, "CompiledGraph", py::dynamic_attr())
      .def(py::init([](GraphBuilder &builder, Backend &backend, bool kernels,
                       bool fuse, bool preferAten, bool codeNow, bool strict,
                       bool keepsChecks, std::optional<py::function> trace,
                       std::optional<py::function> observe,
                       std::optional<py::function> progress,
                       std::optional<py::function> written) {
             return std::make_unique<CompiledGraph>(
                 builder, backend,
                 GraphOptions{kernels, fuse, preferAten, codeNow, strict,
                              keepsChecks, std::move(trace), std::move(observe),
                              std::move(progress), std::move(written)});
           }),
           py::arg("builder"), py::arg("backend"), py::kw_only(),
           py::arg("kernels"), py::arg("fuse"), py::arg("prefer_aten"),
           py::arg("code_now"), py::arg("strict"), py::arg("keeps_checks"),
           py::arg("trace") = py::none(), py::arg("observe") = py::none(),
           py::arg("progress") = py::none(), py::arg("written") = py::none(),
           py::keep_alive<1, 3>())
      .def("__call__", &callWith)
      .def("entry", &entryOf)
      .def("graph_text", &CompiledGraph::printGraph)
      .def("groups_text", &CompiledGraph::printGroups)
      .def("program_text", &CompiledGraph::programText)
      .def("plan_text", &CompiledGraph::printPlan)
      .def("assumptions_text", &CompiledGraph::printAssumptions)
      .def("steps", &CompiledGraph::steps)
      .def("times", &CompiledGraph::times)
      .def("stages", &CompiledGraph::stages)
      .def("opaque", &CompiledGraph::opaque);
}
