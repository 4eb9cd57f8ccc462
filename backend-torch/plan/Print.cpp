// Plans as texts: the steps, and what each call is compared with.
#include "backend-torch/plan/LaunchPlan.h"

namespace quern {

std::string print(const LaunchPlan &plan) {
  const Graph &graph = *plan.graph;
  std::string text = "plan " + graph.name + "\n";
  for (const Step &step : plan.steps) {
    const Node &node = graph.nodes[step.node];
    text += step.kernel >= 0           ? "  kernel"
            : step.call.host >= 0      ? "  host " + node.overload
            : step.isView              ? "  view " + node.overload
            : step.call.isAllocation() ? "  memory " + node.overload
                                       : "  aten " + node.overload;
    text += " -> %" + node.name;
    for (const SymbolBinding &binding : step.bindings)
      text += " binds " + graph.sizes.symbols()[binding.symbol];
    for (ValueId id : step.frees)
      text += " frees %" + graph.producer(id).name;
    text += "\n";
  }
  return text;
}

static std::string placeOf(const std::string &source) {
  return source.empty() ? "" : " (" + source + ")";
}

static void addResults(const Graph &graph, const Step &step,
                       std::string &text) {
  const Node &node = graph.nodes[step.node];
  for (const StepResult &result : step.call.results) {
    if (!result.isChecked)
      continue;
    text += "  result of " + node.overload + " " +
            print(graph, graph.values[result.slot].facts);
    if (!node.sizesAssumed.empty())
      text += " since " + node.sizesAssumed;
    text += placeOf(node.source) + "\n";
  }
}

std::string printAssumptions(const LaunchPlan &plan) {
  const Graph &graph = *plan.graph;
  std::string text;
  auto addInputs = [&](const char *what, const std::vector<ValueId> &ids) {
    for (ValueId id : ids)
      text += "  argument %" + graph.producer(id).name + what +
              print(graph, graph.values[id].facts) + "\n";
  };
  addInputs(" ", plan.kernelInputs);
  addInputs(" written ", plan.kernelTargets);
  for (int input : graph.inputs)
    for (ValueId id : graph.nodes[input].results)
      if (graph.values[id].scalar())
        addInputs(" ", {id});
  for (const Step &step : plan.steps)
    if (step.kernel < 0)
      addResults(graph, step, text);
  for (const Assumption &assumption : graph.assumptions)
    text += "  size " + assumption.text + placeOf(assumption.source) + "\n";
  return text;
}

} // namespace quern
