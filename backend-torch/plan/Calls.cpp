// Nodes → calls through the dispatcher, as their schemas want them.
#include "backend-torch/plan/Calls.h"
#include "backend-torch/plan/Arguments.h"

#include <set>

namespace quern {

static std::vector<ArgumentTemplate>
schemaArguments(const Graph &graph, const Node &node, const CallStep &call) {
  std::vector<ArgumentTemplate> result;
  for (const c10::Argument &parameter : call.op->schema().arguments()) {
    if (auto *given = graph.argument(node, parameter.name())) {
      result.push_back(makeTemplate(*given, parameter.real_type()));
      continue;
    }
    ArgumentTemplate missing;
    if (parameter.default_value())
      missing.fixed = *parameter.default_value();
    result.push_back(std::move(missing));
  }
  return result;
}

static StepResult resultOf(const Graph &graph, const Node &node, ValueId id) {
  StepResult result{.slot = id, .strides = {}};
  const TensorFacts *facts = graph.values[id].tensor();
  if (!facts || !facts->isStrided)
    return result;
  for (ValueId operand : graph.operands(node)) {
    const TensorFacts *other = graph.values[operand].tensor();
    if (other && other->storage == facts->storage)
      return result;
  }
  result.strides = facts->strides;
  return result;
}

static bool writesIntoGiven(std::string_view overload) {
#define QN_GIVEN(name)                                                         \
  if (overload == name)                                                        \
    return true;
#include "backend-torch/plan/Given.def"
  return false;
}

Step makeCall(const FusionPlan &fusion, int index) {
  const Graph &graph = *fusion.graph;
  const Node &node = graph.nodes[index];
  Step step;
  step.node = index;
  step.isView =
      std::holds_alternative<ViewOf>(fusion.analysis->operations[index]);
  step.call.returnsList = node.returnsList;
  if (node.kind == NodeKind::Host) {
    step.call.host = node.object;
    for (const NamedArgument &argument : node.arguments)
      step.call.arguments.push_back(makeTemplate(argument.value, nullptr));
  } else {
    std::size_t dot = node.overload.find('.');
    std::string name = node.overload.substr(0, dot);
    std::string overload =
        dot == std::string::npos ? "" : node.overload.substr(dot + 1);
    step.call.writesIntoGiven = writesIntoGiven(node.overload);
    if (step.call.writesIntoGiven)
      overload = "out";
    step.call.op = c10::Dispatcher::singleton().findSchemaOrThrow(
        name.c_str(), overload.c_str());
    step.call.arguments = schemaArguments(graph, node, step.call);
  }
  for (ValueId id : node.results)
    step.call.results.push_back(resultOf(graph, node, id));
  return step;
}

namespace {
/// Every node once, after the views it reads.
class CallWriter {
public:
  explicit CallWriter(const FusionPlan &fusion) : fusion(fusion) {}

  void add(int index) {
    if (!seen.insert(index).second)
      return;
    const Graph &graph = *fusion.graph;
    for (ValueId operand : graph.operands(graph.nodes[index]))
      if (int producer = graph.values[operand].node; isView(producer))
        add(producer);
    steps.push_back(makeCall(fusion, index));
  }

  std::vector<Step> steps;

private:
  bool isView(int node) const {
    return std::holds_alternative<ViewOf>(fusion.analysis->operations[node]);
  }

  const FusionPlan &fusion;
  std::set<int> seen;
};
} // namespace

std::vector<Step> callsOf(const FusionPlan &fusion, const Group &group) {
  CallWriter writer(fusion);
  for (int node : group.draft.nodes())
    writer.add(node);
  return std::move(writer.steps);
}

} // namespace quern
