// What a step read and wrote, as a dictionary for Python's observers.
#include "backend-torch/bind/CompiledGraph.h"

#include <algorithm>

namespace py = pybind11;

namespace quern {

/// An operand as the kernel sees it: extents and strides of its own axes.
static py::object operandOf(const KernelOperand &operand,
                            const BoundShape::Tensor &tensor,
                            const Frame &frame) {
  const at::Tensor &base = frame.slots[operand.base].toTensor();
  return toPython(base.as_strided(tensor.extents, tensor.strides,
                                  base.storage_offset() + tensor.offset));
}

static void describeLaunch(const Program &program, const Step &step,
                           const BoundShape &shape, const Frame &frame,
                           const Graph &graph, py::dict &result) {
  const GroupKernel &kernel = program.kernels[step.kernel];
  py::list inputs, outputs;
  auto operand = [&](const KernelOperand &operand,
                     const BoundShape::Tensor &tensor) {
    const Value &base = graph.values[operand.base];
    return py::make_tuple(graph.nodes[base.node].name + "." +
                              std::to_string(base.index),
                          operandOf(operand, tensor, frame));
  };
  for (std::size_t i = 0; i != kernel.inputs.size(); ++i)
    inputs.append(operand(kernel.inputs[i], shape.inputs[i]));
  for (std::size_t i = 0; i != kernel.outputs.size(); ++i)
    outputs.append(operand(kernel.outputs[i], shape.outputs[i]));
  result["kernel"] = kernel.declaration;
  result["inputs"] = std::move(inputs);
  result["outputs"] = std::move(outputs);
  std::vector<std::int64_t> numbers;
  for (const Argument &argument : shape.arguments)
    if (const auto *number = std::get_if<std::int64_t>(&argument))
      numbers.push_back(*number);
  result["numbers"] = std::move(numbers);
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

/// Whether a step copies a part into what others put parts in after it.
static bool isStoredFurther(const LaunchPlan &plan, const Program &program,
                            const Step &step) {
  if (step.kernel < 0 || plan.fusion->groups[step.kernel].part < 0)
    return false;
  ValueId base = program.kernels[step.kernel].outputs[0].base;
  return std::any_of(
      &step + 1, plan.steps.data() + plan.steps.size(), [&](const Step &later) {
        if (later.kernel < 0)
          return false;
        const auto &outputs = program.kernels[later.kernel].outputs;
        return std::any_of(outputs.begin(), outputs.end(),
                           [&](const KernelOperand &output) {
                             return output.isPlaced && output.base == base;
                           });
      });
}

/// What a step made; of a part of a concatenation, the place it was stored in.
static c10::IValue valueOf(const Executor &executor, const Step &step,
                           const Frame &frame, ValueId id) {
  const FusionPlan &fusion = *executor.plan().fusion;
  if (step.kernel < 0 || !fusion.groups[step.kernel].placed.contains(id))
    return frame.slots[id];
  const auto &outputs = executor.program().kernels[step.kernel].outputs;
  auto operand = std::find_if(
      outputs.begin(), outputs.end(),
      [&](const KernelOperand &output) { return output.value == id; });
  auto worth = [&](Size size) {
    return fusion.sizes->evaluate(size, frame.symbols).asInt();
  };
  std::vector<std::int64_t> extents;
  for (Size size : fusion.graph->values[id].tensor()->sizes)
    extents.push_back(worth(size));
  const at::Tensor &base = frame.slots[operand->base].toTensor();
  return base.as_strided(extents, base.strides(),
                         base.storage_offset() + worth(operand->offset));
}

py::dict CompiledGraph::describe(const StepReport &report) const {
  const Graph &graph = *executor->plan().graph;
  const Step &step = report.step;
  std::vector<ValueId> results = graph.nodes[step.node].results;
  if (step.kernel >= 0)
    results = executor->plan().fusion->groups[step.kernel].outputs;
  if (isStoredFurther(executor->plan(), executor->program(), step))
    results.clear();
  py::dict result;
  py::list names, values;
  for (int node : nodesOf(executor->plan(), step))
    names.append(graph.nodes[node].name);
  for (ValueId id : results)
    values.append(
        py::make_tuple(graph.producer(id).name, graph.values[id].index,
                       toPython(valueOf(*executor, step, report.frame, id))));
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
