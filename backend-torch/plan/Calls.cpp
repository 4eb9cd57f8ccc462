// Nodes → calls through the dispatcher, as their schemas want them.
#include "backend-torch/plan/Calls.h"
#include "backend-torch/ops/Placement.h"
#include "backend-torch/plan/Arguments.h"
#include "backend-torch/plan/Layers.h"

#include <algorithm>
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

/// Whether the graph gives the value away, as ATen made it.
static bool isGiven(const Graph &graph, ValueId id) {
  return std::ranges::any_of(graph.outputs, [&](const GraphOutput &output) {
    return output.kind == GraphArgument::Kind::Value && output.integer == id;
  });
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
  if (!isGiven(graph, id))
    result.scalarType = facts->scalarType;
  return result;
}

static bool isPlain(const Graph &graph, ValueId id) {
  const TensorFacts *facts = graph.values[id].tensor();
  return facts && facts->isStrided && facts->memory == DeviceId();
}

static c10::OperatorHandle schemaOf(const char *name, const char *overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

/// The form of an operator that writes into memory it is given, where the
/// processor's kernels have one: the same arguments, and `out` behind them.
static std::optional<c10::OperatorHandle>
outFormOf(const c10::OperatorHandle &op) {
  std::optional<c10::OperatorHandle> form =
      c10::Dispatcher::singleton().findSchema({op.operator_name().name, "out"});
  if (!form || !form->hasKernelForDispatchKey(c10::DispatchKey::CPU))
    return std::nullopt;
  const std::vector<c10::Argument> &own = op.schema().arguments();
  const std::vector<c10::Argument> &other = form->schema().arguments();
  if (other.size() != own.size() + 1 || !other.back().is_out())
    return std::nullopt;
  for (std::size_t i = 0; i != own.size(); ++i)
    if (own[i].name() != other[i].name() || *own[i].type() != *other[i].type())
      return std::nullopt;
  return form;
}

static bool isCopy(std::string_view overload) {
  std::optional<Primitive> kind = primitiveOf(overload);
  return kind == Primitive::Copy || kind == Primitive::Cast;
}

/// Looks the operator up, or its form that writes into given memory, so that
/// the executor chooses where the result lies.
static void chooseOperator(const Graph &graph, const Node &node,
                           CallStep &call) {
  std::size_t dot = node.overload.find('.');
  std::string name = node.overload.substr(0, dot);
  std::string overload =
      dot == std::string::npos ? "" : node.overload.substr(dot + 1);
  // How much memory a result of unknown size needs only the operator finds.
  bool canGive = node.results.size() == 1 && !node.definesSizes &&
                 isPlain(graph, node.results[0]);
  const GraphArgument *self =
      node.arguments.empty() ? nullptr : &node.arguments.front().value;
  if (canGive && isCopy(node.overload) && self &&
      self->kind == GraphArgument::Kind::Value &&
      isPlain(graph, static_cast<ValueId>(self->integer))) {
    call.op = schemaOf(nameOf(PlacementKind::Write), "");
    call.given = 0;
    call.arguments = {{}, makeTemplate(*self, nullptr), {}};
    call.arguments[2].fixed = false;
    return;
  }
  if (chooseLayer(graph, node, call))
    return;
  call.op = schemaOf(name.c_str(), overload.c_str());
  std::optional<c10::OperatorHandle> form =
      canGive ? outFormOf(*call.op) : std::nullopt;
  if (form)
    call.op = *form;
  call.arguments = schemaArguments(graph, node, call);
  if (form)
    call.given = static_cast<int>(call.arguments.size()) - 1;
}

static bool isTensorType(const c10::Argument &argument) {
  return argument.type()->kind() == c10::TypeKind::TensorType;
}

static bool onlyAllocates(const Operation &operation) {
  const auto *opaque = std::get_if<Opaque>(&operation);
  return opaque && opaque->kind == OpaqueKind::Allocation;
}

/// The argument whose memory the results of a view lie in, -1: of none.
static int viewedArgument(const c10::FunctionSchema &schema) {
  const std::vector<c10::Argument> &arguments = schema.arguments();
  for (std::size_t i = 0; i != arguments.size(); ++i)
    if (arguments[i].alias_info() && !arguments[i].alias_info()->isWrite() &&
        isTensorType(arguments[i]))
      return static_cast<int>(i);
  return -1;
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
  if (step.call.op)
    step.call.viewOf = viewedArgument(step.call.op->schema());
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
    // A kernel may read whatever these calls make in the place of another.
    for (StepResult &result : steps.back().call.results) {
      const TensorFacts *facts = graph.values[result.slot].tensor();
      result.isChecked = !steps.back().isView && facts && facts->isStrided;
    }
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
  for (const auto &[value, place] : group.placed)
    if (int producer = fusion.graph->values[value].node;
        std::holds_alternative<ViewOf>(fusion.analysis->operations[producer]))
      writer.add(producer);
  return std::move(writer.steps);
}

} // namespace quern
