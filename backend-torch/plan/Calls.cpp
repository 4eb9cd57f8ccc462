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

namespace {
enum class Given : std::uint8_t { None, Out, Copy };
} // namespace

static Given givenOf(std::string_view overload) {
#define QN_GIVEN(name, how)                                                    \
  if (overload == name)                                                        \
    return Given::how;
#include "backend-torch/plan/Given.def"
  return Given::None;
}

static bool isPlain(const Graph &graph, ValueId id) {
  const TensorFacts *facts = graph.values[id].tensor();
  return facts && facts->isStrided && facts->device == "cpu";
}

static c10::OperatorHandle schemaOf(const char *name, const char *overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

/// Looks the operator up, or its form that writes into given memory.
static void chooseOperator(const Graph &graph, const Node &node,
                           CallStep &call) {
  std::size_t dot = node.overload.find('.');
  std::string name = node.overload.substr(0, dot);
  std::string overload =
      dot == std::string::npos ? "" : node.overload.substr(dot + 1);
  Given given = givenOf(node.overload);
  const GraphArgument *self = graph.argument(node, "self");
  if (node.results.empty() || !isPlain(graph, node.results[0]))
    given = Given::None;
  if (given == Given::Copy && self &&
      self->kind == GraphArgument::Kind::Value &&
      isPlain(graph, static_cast<ValueId>(self->integer))) {
    call.op = schemaOf("aten::copy_", "");
    call.given = 0;
    call.arguments = {{}, makeTemplate(*self, nullptr), {}};
    call.arguments[2].fixed = false;
    return;
  }
  call.op =
      schemaOf(name.c_str(), given == Given::Out ? "out" : overload.c_str());
  call.arguments = schemaArguments(graph, node, call);
  if (given == Given::Out)
    call.given = static_cast<int>(call.arguments.size()) - 1;
}

static bool onlyAllocates(const Operation &operation) {
  const auto *opaque = std::get_if<Opaque>(&operation);
  return opaque && opaque->kind == OpaqueKind::Allocation;
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
  } else if (!onlyAllocates(fusion.analysis->operations[index])) {
    chooseOperator(graph, node, step.call);
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
