// One native call a graph: unpack, run without the GIL, pack.
#include "backend-torch/bind/CompiledGraph.h"

namespace py = pybind11;

namespace quern {

CompiledGraph::CompiledGraph(GraphBuilder &builder,
                             std::shared_ptr<Recorder> recorder,
                             std::optional<py::function> trace) {
  objects = builder.takeObjects();
  std::vector<c10::IValue> constants;
  for (const py::object &object : objects)
    constants.push_back(THPVariable_Check(object.ptr()) ? fromPython(object)
                                                        : c10::IValue());
  ExecutorOptions options;
  options.hostCall = [this](int callable, std::vector<c10::IValue> &stack) {
    callHost(callable, stack);
  };
  if (trace)
    options.trace = [log = *trace](const std::string &line) {
      py::gil_scoped_acquire gil;
      log(line);
    };
  executor = std::make_unique<Executor>(
      makePlan(builder.finish()), std::move(constants), std::move(recorder),
      std::move(options));
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

std::map<std::string, std::int64_t> CompiledGraph::operatorCalls() const {
  std::map<std::string, std::int64_t> calls;
  for (const Step &step : executor->plan().steps)
    ++calls[executor->plan().graph->nodes[step.node].overload];
  return calls;
}

} // namespace quern
