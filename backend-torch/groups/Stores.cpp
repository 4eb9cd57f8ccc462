// Parts that nobody else reads, of groups whose axes their dimensions follow.
#include "backend-torch/groups/Stores.h"

#include <algorithm>

namespace quern {

using Reason = std::optional<std::string>;

/// Whether nothing but `last` reads a value, through views of all of it.
static bool isReadByAlone(const Analysis &analysis, const Readers &readers,
                          ValueId value, int last) {
  int reader = last;
  while (true) {
    if (readers.isOutput[value] || readers.nodes[value].size() != 1 ||
        readers.nodes[value].front() != reader)
      return false;
    auto *view = std::get_if<ViewOf>(&analysis.producerOperation(value));
    if (!view)
      return true;
    reader = analysis.graph->values[value].node;
    value = view->source;
  }
}

/// Whether memory for a value can be taken before the graph's first step.
static bool isKnownFirst(const Graph &graph, const TensorFacts &facts) {
  auto isInputs = [&](Size symbol) {
    return std::any_of(
        graph.inputs.begin(), graph.inputs.end(), [&](int input) {
          const Value &value = graph.values[graph.nodes[input].results[0]];
          if (const ScalarFacts *number = value.scalar())
            return number->value == symbol;
          const TensorFacts *tensor = value.tensor();
          return tensor && std::find(tensor->sizes.begin(), tensor->sizes.end(),
                                     symbol) != tensor->sizes.end();
        });
  };
  return std::all_of(facts.sizes.begin(), facts.sizes.end(), [&](Size size) {
    std::vector<Size> symbols = graph.sizes.symbolsIn(size);
    return std::all_of(symbols.begin(), symbols.end(), isInputs);
  });
}

static std::set<Atom> atomsOf(const Draft &draft, ValueId value) {
  std::set<Atom> atoms;
  for (const Dimension &dimension : draft.dimensionsOf(value))
    atoms.insert(dimension.begin(), dimension.end());
  return atoms;
}

static Reason whyElsewhere(const FusionPlan &plan, const Readers &readers,
                           int node, const Placement &placement, int part) {
  const Graph &graph = *plan.graph;
  ValueId value = placement.parts[part];
  const TensorFacts *from = graph.values[value].tensor();
  const TensorFacts *to = graph.values[placement.target].tensor();
  if (placement.dim < 0)
    return "it is written to an argument";
  if (from->type != to->type)
    return "it is of another type";
  if (!isReadByAlone(*plan.analysis, readers, value, node))
    return "others read it";
  if (!isKnownFirst(graph, *to))
    return "its place is only known at run time";
  return std::nullopt;
}

Reason storeInPlace(FusionPlan &plan, const Readers &readers, int node,
                    int part) {
  const auto &placement = std::get<Placement>(plan.analysis->operations[node]);
  if (Reason why = whyElsewhere(plan, readers, node, placement, part))
    return why;
  ValueId value = placement.parts[part];
  ValueId base = plan.analysis->baseOf(value);
  for (Group &group : plan.groups) {
    auto output = std::find(group.outputs.begin(), group.outputs.end(), base);
    if (output == group.outputs.end() || group.part >= 0)
      continue;
    if (group.draft.isWhole())
      return "its kernel is a whole of its own";
    Draft draft = group.draft;
    if (Reason why = draft.look(value))
      return why;
    if (atomsOf(draft, value) != atomsOf(draft, base))
      return "it is spread along an axis";
    group.draft = std::move(draft);
    *output = value;
    group.placed[value] = {.node = node, .part = part};
    return std::nullopt;
  }
  return "no kernel computes it";
}

} // namespace quern
