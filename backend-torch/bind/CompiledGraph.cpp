// One native call a graph: unpack, run without the GIL, pack.
#include "backend-torch/bind/CompiledGraph.h"

namespace py = pybind11;

namespace quern {

#if defined(QUERN_HAS_COMPILER)
Backend::Backend() : recorder(std::make_shared<Recorder>()) {
  SessionOptions options;
  options.threads = at::get_num_threads();
  Result<std::shared_ptr<Session>> session = Session::create(options);
  if (!session)
    raise(session.error().message);
  compiler = std::make_unique<SessionCompiler>(*session);
  Result<std::vector<OperatorRow>> rows = compiler->operators();
  if (!rows)
    raise(rows.error().message);
  table = OperatorTable(std::move(*rows));
}
#else
Backend::Backend() : recorder(std::make_shared<Recorder>()) {}
#endif

CompiledGraph::CompiledGraph(GraphBuilder &builder, Backend &backend,
                             GraphOptions chosen) {
  objects = builder.takeObjects();
  std::vector<c10::IValue> constants;
  for (const py::object &object : objects)
    constants.push_back(THPVariable_Check(object.ptr()) ? fromPython(object)
                                                        : c10::IValue());
  ExecutorOptions options;
  options.hostCall = [this](int callable, std::vector<c10::IValue> &stack) {
    callHost(callable, stack);
  };
  if (chosen.trace)
    options.trace = [log = *chosen.trace](const std::string &line) {
      py::gil_scoped_acquire gil;
      log(line);
    };
  FusionOptions fusion;
  fusion.kernels = chosen.kernels;
  fusion.fuse = chosen.fuse;
  std::shared_ptr<const Graph> graph = builder.finish();
  py::gil_scoped_release release;
  CompiledProgram program =
      compileGraph(std::move(graph), backend.table, backend.compiler.get(),
                   std::move(fusion), chosen.codeNow);
  executor =
      std::make_unique<Executor>(std::move(program), std::move(constants),
                                 *backend.recorder, std::move(options));
}

void CompiledGraph::callHost(int callable,
                             std::vector<c10::IValue> &stack) const {
  py::gil_scoped_acquire gil;
  py::list arguments;
  for (const c10::IValue &value : stack)
    arguments.append(toPython(value));
  stack.clear();
  py::object results = objects[callable](*arguments);
  for (py::handle result : results)
    stack.push_back(fromPython(result));
}

py::object CompiledGraph::call(py::list arguments) const {
  std::vector<c10::IValue> values;
  values.reserve(arguments.size());
  for (py::handle argument : arguments)
    values.push_back(fromPython(argument));
  PyList_SetSlice(arguments.ptr(), 0, PyList_GET_SIZE(arguments.ptr()),
                  nullptr);
  std::vector<c10::IValue> outputs;
  {
    py::gil_scoped_release release;
    outputs = executor->run(std::move(values));
  }
  py::tuple result(outputs.size());
  for (std::size_t i = 0; i != outputs.size(); ++i)
    result[i] = toPython(outputs[i]);
  return result;
}

std::string CompiledGraph::printGraph() const {
  return quern::print(*executor->plan().graph);
}

std::string CompiledGraph::printPlan() const {
  return quern::print(executor->plan());
}

std::string CompiledGraph::printGroups() const {
  return quern::print(*executor->plan().fusion);
}

static std::string kindName(OpaqueKind kind) {
  switch (kind) {
  case OpaqueKind::Fallback:
    return "fallback";
  case OpaqueKind::Preferred:
    return "preferred";
  case OpaqueKind::Random:
    return "random";
  }
  return "";
}

std::vector<std::array<std::string, 5>> CompiledGraph::opaque() const {
  std::vector<std::array<std::string, 5>> result;
  const FusionPlan &fusion = *executor->plan().fusion;
  for (const auto &[index, opaque] : fusion.opaque) {
    const Node &node = fusion.graph->nodes[index];
    result.push_back({node.name, node.overload, node.source, opaque.reason,
                      kindName(opaque.kind)});
  }
  return result;
}

} // namespace quern
