// What a step read and wrote, as a dictionary for Python's observers.
#include "backend-torch/bind/CompiledGraph.h"

namespace py = pybind11;

namespace quern {

/// An operand as the kernel sees it: extents and strides of its own axes.
static py::object operandOf(const KernelOperand &operand,
                            const BoundShape::Tensor &tensor,
                            const Frame &frame, ValueId slot,
                            std::int64_t offset) {
  const at::Tensor &base = frame.slots[slot].toTensor();
  return toPython(base.as_strided(tensor.extents, tensor.strides,
                                  base.storage_offset() + offset));
}

static void describeLaunch(const Program &program, const Step &step,
                           const BoundShape &shape, const Frame &frame,
                           const Graph &graph, py::dict &result) {
  const GroupKernel &kernel = program.kernels[step.kernel];
  py::list inputs, outputs;
  auto name = [&](ValueId id) {
    const Value &value = graph.values[id];
    return graph.nodes[value.node].name + "." + std::to_string(value.index);
  };
  for (std::size_t i = 0; i != kernel.inputs.size(); ++i)
    inputs.append(py::make_tuple(name(kernel.inputs[i].base),
                                 operandOf(kernel.inputs[i], shape.inputs[i],
                                           frame, kernel.inputs[i].base,
                                           shape.inputs[i].offset)));
  for (std::size_t i = 0; i != kernel.outputs.size(); ++i)
    outputs.append(
        py::make_tuple(name(kernel.outputs[i].value),
                       operandOf(kernel.outputs[i], shape.outputs[i], frame,
                                 kernel.outputs[i].value, 0)));
  result["kernel"] = kernel.declaration;
  result["inputs"] = std::move(inputs);
  result["outputs"] = std::move(outputs);
  result["numbers"] = shape.numbers;
}

static std::vector<int> nodesOf(const LaunchPlan &plan, const Step &step) {
  if (step.kernel < 0)
    return {step.node};
  const Group &group = plan.fusion->groups[step.kernel];
  return {group.draft.nodes().begin(), group.draft.nodes().end()};
}

py::list CompiledGraph::steps() const {
  const LaunchPlan &plan = executor->plan();
  py::list steps;
  for (const Step &step : plan.steps) {
    py::list names;
    for (int node : nodesOf(plan, step))
      names.append(plan.graph->nodes[node].name);
    py::dict entry;
    if (step.kernel >= 0)
      entry["kernel"] = executor->program().kernels[step.kernel].declaration;
    entry["operator"] = plan.graph->nodes[step.node].overload;
    entry["view"] = step.isView;
    entry["nodes"] = std::move(names);
    steps.append(std::move(entry));
  }
  return steps;
}

py::dict CompiledGraph::describe(const StepReport &report) const {
  const Graph &graph = *executor->plan().graph;
  const Step &step = report.step;
  std::vector<ValueId> results = graph.nodes[step.node].results;
  if (step.kernel >= 0)
    results = executor->plan().fusion->groups[step.kernel].outputs;
  py::dict result;
  py::list names, values;
  for (int node : nodesOf(executor->plan(), step))
    names.append(graph.nodes[node].name);
  for (ValueId id : results)
    values.append(py::make_tuple(graph.producer(id).name,
                                 graph.values[id].index,
                                 toPython(report.frame.slots[id])));
  result["number"] = report.number;
  result["nanoseconds"] = report.nanoseconds;
  result["operator"] = graph.nodes[step.node].overload;
  result["view"] = step.isView;
  result["nodes"] = std::move(names);
  result["values"] = std::move(values);
  if (report.shape)
    describeLaunch(executor->program(), step, *report.shape, report.frame,
                   graph, result);
  return result;
}

} // namespace quern
