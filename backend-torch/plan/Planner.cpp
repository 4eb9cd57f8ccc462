// Graph → LaunchPlan: schemas looked up, symbols bound, lifetimes ended.
#include "backend-torch/plan/Arguments.h"
#include "backend-torch/plan/LaunchPlan.h"

#include <algorithm>
#include <set>

namespace quern {

namespace {
class Planner {
public:
  explicit Planner(std::shared_ptr<const Graph> graph) : graph(*graph) {
    plan.graph = std::move(graph);
    isBound.resize(this->graph.sizes.symbols().size());
  }

  LaunchPlan run() {
    bindInputs();
    for (std::size_t i = 0; i != graph.nodes.size(); ++i) {
      NodeKind kind = graph.nodes[i].kind;
      if (kind == NodeKind::Call || kind == NodeKind::Host)
        addCall(static_cast<int>(i));
    }
    endLifetimes();
    return std::move(plan);
  }

private:
  void bindInputs();
  void bindFrom(ValueId id, std::vector<SymbolBinding> &bindings);
  void bind(Size size, ValueId id, SymbolBinding::From from, int axis,
            std::vector<SymbolBinding> &bindings);
  void addCall(int index);
  std::vector<ArgumentTemplate> schemaArguments(const Node &node,
                                                const CallStep &call);
  StepResult result(const Node &node, ValueId id) const;
  void endLifetimes();

  const Graph &graph;
  LaunchPlan plan;
  std::vector<bool> isBound;
};
} // namespace

void Planner::bind(Size size, ValueId id, SymbolBinding::From from, int axis,
                   std::vector<SymbolBinding> &bindings) {
  if (!graph.sizes.isSymbol(size))
    return;
  int symbol = graph.sizes.symbolIndex(size);
  if (isBound[symbol])
    return;
  isBound[symbol] = true;
  bindings.push_back({symbol, id, from, axis});
}

void Planner::bindFrom(ValueId id, std::vector<SymbolBinding> &bindings) {
  const Value &value = graph.values[id];
  if (const ScalarFacts *scalar = value.scalar())
    bind(scalar->value, id, SymbolBinding::From::Scalar, 0, bindings);
  const TensorFacts *tensor = value.tensor();
  if (!tensor)
    return;
  for (std::size_t i = 0; i != tensor->sizes.size(); ++i)
    bind(tensor->sizes[i], id, SymbolBinding::From::Extent, int(i), bindings);
  for (std::size_t i = 0; i != tensor->strides.size(); ++i)
    bind(tensor->strides[i], id, SymbolBinding::From::Stride, int(i), bindings);
}

void Planner::bindInputs() {
  // Numbers first: they say what a symbol is, a tensor's extent only agrees.
  for (bool scalars : {true, false})
    for (int node : graph.inputs)
      for (ValueId id : graph.nodes[node].results)
        if ((graph.values[id].scalar() != nullptr) == scalars)
          bindFrom(id, plan.inputBindings);
}

std::vector<ArgumentTemplate> Planner::schemaArguments(const Node &node,
                                                       const CallStep &call) {
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

StepResult Planner::result(const Node &node, ValueId id) const {
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

void Planner::addCall(int index) {
  const Node &node = graph.nodes[index];
  Step step;
  step.node = index;
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
    step.call.op = c10::Dispatcher::singleton().findSchemaOrThrow(
        name.c_str(), overload.c_str());
    step.call.arguments = schemaArguments(node, step.call);
  }
  for (ValueId id : node.results) {
    step.call.results.push_back(result(node, id));
    bindFrom(id, step.bindings);
  }
  plan.steps.push_back(std::move(step));
}

/// A value goes away with the last step that reads it; one that nobody reads
/// with the step that made it.
void Planner::endLifetimes() {
  std::set<ValueId> kept;
  for (const GraphOutput &output : graph.outputs)
    if (output.kind == GraphArgument::Kind::Value)
      kept.insert(static_cast<ValueId>(output.integer));
  for (const Node &node : graph.nodes)
    if (node.kind == NodeKind::Constant)
      kept.insert(node.results.begin(), node.results.end());
  auto free = [&](ValueId id, std::vector<ValueId> &frees) {
    if (kept.insert(id).second)
      frees.push_back(id);
  };
  for (std::size_t i = plan.steps.size(); i != 0; --i) {
    Step &step = plan.steps[i - 1];
    for (ValueId id : graph.operands(graph.nodes[step.node]))
      free(id, step.frees);
    for (ValueId id : graph.nodes[step.node].results)
      free(id, step.frees);
  }
  for (int node : graph.inputs)
    for (ValueId id : graph.nodes[node].results)
      free(id, plan.unusedInputs);
}

LaunchPlan makePlan(std::shared_ptr<const Graph> graph) {
  return Planner(std::move(graph)).run();
}

std::string print(const LaunchPlan &plan) {
  const Graph &graph = *plan.graph;
  std::string text = "plan " + graph.name + "\n";
  for (const Step &step : plan.steps) {
    const Node &node = graph.nodes[step.node];
    text += std::string(step.call.host >= 0 ? "  host " : "  aten ") +
            node.overload + " -> %" + node.name;
    for (const SymbolBinding &binding : step.bindings)
      text += " binds " + graph.sizes.symbols()[binding.symbol];
    for (ValueId id : step.frees)
      text += " frees %" + graph.producer(id).name;
    text += "\n";
  }
  return text;
}

} // namespace quern
