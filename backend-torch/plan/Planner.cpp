// Graph → LaunchPlan: schemas looked up, symbols bound, lifetimes ended.
#include "backend-torch/plan/Calls.h"
#include "backend-torch/run/Raise.h"

#include <algorithm>
#include <set>

namespace quern {

namespace {
class Planner {
public:
  Planner(std::shared_ptr<const FusionPlan> fusion, const Program &program)
      : fusion(*fusion), graph(*fusion->graph), program(program) {
    plan.graph = fusion->graph;
    plan.fusion = std::move(fusion);
    isBound.resize(graph.sizes.symbols().size());
    for (std::size_t i = 0; i != graph.assumptions.size(); ++i)
      openAssumptions.push_back(static_cast<int>(i));
  }

  LaunchPlan run() {
    bindInputs();
    takeAssumptions(plan.inputAssumptions);
    findNeeded();
    findRead();
    for (const Unit &unit : fusion.order) {
      if (unit.group >= 0)
        addKernel(unit.group);
      else if (isNeeded(unit.node))
        addCall(unit.node);
    }
    requireBound();
    endLifetimes();
    plan.dying.resize(program.kernels.size());
    plan.windows.resize(program.kernels.size());
    for (const Step &step : plan.steps)
      if (step.kernel >= 0) {
        plan.dying[step.kernel] = dyingInputs(step);
        plan.windows[step.kernel] = windowsOf(step.kernel);
      }
    return std::move(plan);
  }

private:
  void bindInputs();
  void bindFrom(ValueId id, std::vector<SymbolBinding> &bindings);
  void bind(Size size, ValueId id, SymbolBinding::From from, int axis,
            std::vector<SymbolBinding> &bindings);
  void addCall(int index);
  void takeAssumptions(std::vector<int> &list);
  void requireBound() const;
  void findNeeded();
  void findRead();
  bool isChecked(const Node &node, ValueId id) const;
  void check(const Node &node, bool isView, StepResult &result) const;
  bool isNeeded(int node) const;
  bool isView(int node) const {
    return std::holds_alternative<ViewOf>(fusion.analysis->operations[node]);
  }
  void addKernel(int group);
  std::vector<ValueId> readsOf(const Step &step) const;
  std::vector<ValueId> resultsOf(const Step &step) const;
  void endLifetimes();
  std::vector<std::size_t> dyingInputs(const Step &step) const;
  std::vector<std::size_t> windowsOf(int kernel) const;

  const FusionPlan &fusion;
  const Graph &graph;
  const Program &program;
  LaunchPlan plan;
  std::set<ValueId> needed; ///< by steps other than kernels, or outputs
  std::set<ValueId> read;   ///< by kernels, or written
  std::vector<bool> isBound;
  std::vector<int> openAssumptions; ///< some symbol of theirs is not bound yet
};
} // namespace

void Planner::bind(Size size, ValueId id, SymbolBinding::From from, int axis,
                   std::vector<SymbolBinding> &bindings) {
  auto scaled = graph.sizes.scaledSymbol(size);
  if (!scaled)
    return;
  int symbol = graph.sizes.symbolIndex(scaled->first);
  if (isBound[symbol])
    return;
  isBound[symbol] = true;
  bindings.push_back({symbol, id, from, axis, scaled->second});
}

/// Those whose last symbol is bound now.
void Planner::takeAssumptions(std::vector<int> &list) {
  std::erase_if(openAssumptions, [&](int index) {
    std::vector<Size> symbols =
        graph.sizes.symbolsIn(graph.assumptions[index].holds);
    bool isReady = std::ranges::all_of(symbols, [&](Size symbol) {
      return isBound[graph.sizes.symbolIndex(symbol)];
    });
    if (isReady)
      list.push_back(index);
    return isReady;
  });
}

/// A kernel's extents and strides are not to be computed from nothing.
void Planner::requireBound() const {
  auto require = [&](const std::vector<Size> &sizes) {
    for (Size size : sizes)
      for (Size symbol : fusion.sizes->symbolsIn(size))
        if (int index = fusion.sizes->symbolIndex(symbol); !isBound[index])
          raise("no input and no operator of the graph gives the size `" +
                graph.sizes.symbols()[index] + "`");
  };
  for (const GroupKernel &kernel : program.kernels)
    for (const auto *operands : {&kernel.inputs, &kernel.outputs})
      for (const KernelOperand &operand : *operands) {
        require(operand.extents);
        require(operand.strides);
        require({operand.offset});
      }
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
  if (tensor->isStrided)
    bind(tensor->offset, id, SymbolBinding::From::Offset, 0, bindings);
}

void Planner::bindInputs() {
  // Numbers first: they say what a symbol is, a tensor's extent only agrees.
  for (bool scalars : {true, false})
    for (int node : graph.inputs)
      for (ValueId id : graph.nodes[node].results)
        if ((graph.values[id].scalar() != nullptr) == scalars)
          bindFrom(id, plan.inputBindings);
}

/// Kernels read through views by themselves: such a view needs no step.
void Planner::findNeeded() {
  for (const GraphOutput &output : graph.outputs)
    if (output.kind == GraphArgument::Kind::Value)
      needed.insert(static_cast<ValueId>(output.integer));
  for (std::size_t i = fusion.order.size(); i != 0; --i) {
    const Unit &unit = fusion.order[i - 1];
    if (unit.node < 0 || !isNeeded(unit.node))
      continue;
    for (ValueId id : graph.operands(graph.nodes[unit.node]))
      needed.insert(id);
  }
}

void Planner::findRead() {
  for (const GroupKernel &kernel : program.kernels)
    for (const auto *operands : {&kernel.inputs, &kernel.outputs})
      for (const KernelOperand &operand : *operands)
        read.insert(operand.base);
}

/// ATen looks at its own arguments, kernels do not. Of operators that users
/// register only their fake kernels say what they give, and of sizes that
/// depend on data nobody knows anything but what tracing assumed.
bool Planner::isChecked(const Node &node, ValueId id) const {
  const TensorFacts *facts = graph.values[id].tensor();
  if (!facts || !facts->isStrided)
    return graph.values[id].scalar() != nullptr;
  bool isForeign = node.kind == NodeKind::Call &&
                   !node.overload.starts_with("aten::") &&
                   !node.overload.starts_with("prims::");
  return read.contains(id) || isForeign || node.definesSizes;
}

void Planner::check(const Node &node, bool isView, StepResult &result) const {
  result.isChecked =
      isView ? read.contains(result.slot) : isChecked(node, result.slot);
  const TensorFacts *facts = graph.values[result.slot].tensor();
  if (result.isChecked && facts)
    result.strides = facts->strides;
}

bool Planner::isNeeded(int node) const {
  if (!isView(node))
    return true;
  return std::any_of(graph.nodes[node].results.begin(),
                     graph.nodes[node].results.end(),
                     [&](ValueId id) { return needed.contains(id); });
}

void Planner::addKernel(int group) {
  Step step;
  step.kernel = group;
  step.node = fusion.groups[group].draft.nodes().back();
  auto note = [](std::vector<ValueId> &list, ValueId id) {
    if (std::find(list.begin(), list.end(), id) == list.end())
      list.push_back(id);
  };
  for (const KernelOperand &input : program.kernels[group].inputs) {
    NodeKind kind = graph.producer(input.base).kind;
    if (kind == NodeKind::Input)
      note(plan.kernelInputs, input.base);
    if (kind == NodeKind::Seed)
      note(plan.seeds, input.base);
  }
  for (const KernelOperand &output : program.kernels[group].outputs)
    if (graph.producer(output.base).kind == NodeKind::Input)
      plan.kernelTargets.push_back(output.base);
  plan.steps.push_back(std::move(step));
}

void Planner::addCall(int index) {
  Step step = makeCall(fusion, index);
  for (ValueId id : graph.nodes[index].results)
    bindFrom(id, step.bindings);
  if (!step.call.isAllocation())
    for (StepResult &result : step.call.results)
      check(graph.nodes[index], step.isView, result);
  if (!step.bindings.empty())
    takeAssumptions(step.assumptions);
  plan.steps.push_back(std::move(step));
}

std::vector<ValueId> Planner::readsOf(const Step &step) const {
  if (step.kernel < 0)
    return graph.operands(graph.nodes[step.node]);
  std::vector<ValueId> reads;
  for (const KernelOperand &input : program.kernels[step.kernel].inputs)
    reads.push_back(input.base);
  return reads;
}

std::vector<ValueId> Planner::resultsOf(const Step &step) const {
  if (step.kernel < 0)
    return graph.nodes[step.node].results;
  std::vector<ValueId> results;
  for (const KernelOperand &output : program.kernels[step.kernel].outputs)
    results.push_back(output.base);
  return results;
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
    for (ValueId id : readsOf(step))
      free(id, step.frees);
    for (ValueId id : resultsOf(step))
      free(id, step.frees);
  }
  for (int node : graph.inputs)
    for (ValueId id : graph.nodes[node].results)
      free(id, plan.unusedInputs);
}

std::vector<std::size_t> Planner::dyingInputs(const Step &step) const {
  const std::vector<KernelOperand> &inputs =
      program.kernels[step.kernel].inputs;
  std::vector<std::size_t> dying;
  for (std::size_t i = 0; i != inputs.size(); ++i) {
    auto isSame = [&](const KernelOperand &other) {
      return other.base == inputs[i].base;
    };
    if (std::ranges::count(step.frees, inputs[i].base) != 0 &&
        std::ranges::count_if(inputs, isSame) == 1)
      dying.push_back(i);
  }
  return dying;
}

std::vector<std::size_t> Planner::windowsOf(int kernel) const {
  const std::vector<KernelOperand> &inputs = program.kernels[kernel].inputs;
  auto viewOf = [&](ValueId id) {
    return std::get_if<ViewOf>(
        &fusion.analysis->operations[graph.values[id].node]);
  };
  std::vector<std::size_t> windows;
  for (std::size_t i = 0; i != inputs.size(); ++i) {
    bool isWindow = false;
    for (ValueId id = inputs[i].value; id != inputs[i].base && viewOf(id);
         id = viewOf(id)->source)
      isWindow |= viewOf(id)->kind == ViewKind::Window;
    if (isWindow)
      windows.push_back(i);
  }
  return windows;
}

LaunchPlan makePlan(std::shared_ptr<const FusionPlan> fusion,
                    const Program &program) {
  return Planner(std::move(fusion), program).run();
}

} // namespace quern
