// The executor's loop, and what it does before and after each step.
#include "backend-torch/run/Checks.h"
#include "backend-torch/run/Raise.h"
#include "backend-torch/run/Seed.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <limits>

namespace quern {

void GraphCounts::addFallback(const std::string &overload) {
  std::lock_guard lock(mutex);
  ++inPlace[overload];
}

std::map<std::string, std::int64_t> GraphCounts::fallbacks() const {
  std::lock_guard lock(mutex);
  return inPlace;
}

void GraphCounts::reset() {
  std::lock_guard lock(mutex);
  calls = 0;
  unlaunched = 0;
  inPlace.clear();
}

std::shared_ptr<GraphCounts> Recorder::add(RunCounters perCall) {
  auto counts = std::make_shared<GraphCounts>();
  counts->perCall = std::move(perCall);
  std::lock_guard lock(mutex);
  graphs.push_back(counts);
  return counts;
}

RunCounters Recorder::read() const {
  std::lock_guard lock(mutex);
  RunCounters sum;
  sum.graphs = static_cast<std::int64_t>(graphs.size()) - graphsBefore;
  for (const auto &graph : graphs) {
    std::int64_t calls = graph->calls;
    sum.calls += calls;
    sum.launches += calls * graph->perCall.launches - graph->unlaunched;
    for (const auto &[name, count] : graph->fallbacks())
      sum.fallbacks[name] += count;
    for (auto table : {&RunCounters::fallbacks, &RunCounters::preferred,
                       &RunCounters::random})
      for (const auto &[name, count] : graph->perCall.*table)
        if (calls != 0)
          (sum.*table)[name] += calls * count;
  }
  return sum;
}

void Recorder::reset() {
  std::lock_guard lock(mutex);
  // Only the recorder still knows of a graph that is gone.
  std::erase_if(graphs, [](const auto &g) { return g.use_count() == 1; });
  for (const auto &graph : graphs)
    graph->reset();
  graphsBefore = static_cast<std::int64_t>(graphs.size());
}

static RunCounters countsOf(const CompiledProgram &compiled) {
  RunCounters counts;
  for (const auto &[node, opaque] : compiled.fusion->opaque) {
    if (opaque.kind == OpaqueKind::Allocation)
      continue;
    auto &table = opaque.kind == OpaqueKind::Fallback    ? counts.fallbacks
                  : opaque.kind == OpaqueKind::Preferred ? counts.preferred
                                                         : counts.random;
    ++table[compiled.fusion->graph->nodes[node].overload];
  }
  counts.launches = static_cast<std::int64_t>(compiled.kernels.size());
  return counts;
}

Executor::Executor(CompiledProgram program, std::vector<c10::IValue> objects,
                   Recorder &recorder, ExecutorOptions options)
    : compiled(std::move(program)), options(std::move(options)),
      counts(recorder.add(countsOf(compiled))) {
  if (!this->options.memory)
    this->options.memory = std::make_shared<Memory>();
  auto clock = std::chrono::steady_clock::now();
  launchPlan = makePlan(compiled.fusion, compiled.program);
  compiled.times.plan = lap(clock);
  const Graph &graph = *launchPlan.graph;
  for (const Node &node : graph.nodes)
    if (node.kind == NodeKind::Constant)
      constants.emplace_back(node.results[0], std::move(objects[node.object]));
  for (const GraphOutput &output : graph.outputs)
    outputs.push_back(makeTemplate(output, nullptr));
  for (int input : graph.inputs)
    inputSlots.push_back(graph.nodes[input].results[0]);
  checkConstants();
  if (!graph.sizes.symbols().empty())
    return;
  for (std::size_t i = 0; i != compiled.kernels.size(); ++i)
    fixedShapes.push_back(launchShape(static_cast<int>(i), {}));
  for (const auto *ids : {&launchPlan.kernelInputs, &launchPlan.kernelTargets})
    for (ValueId id : *ids)
      fixedInputs.push_back(expectedOf(id, {}));
  mayBeBrief =
      !this->options.trace && !this->options.observe && areFewElements();
}

bool Executor::areFewElements() const {
  constexpr std::int64_t most = 1 << 13;
  std::int64_t count = 0;
  for (const Step &step : launchPlan.steps)
    if (step.kernel < 0 || !fixedShapes[step.kernel].refusal.empty())
      return false;
  for (const LaunchShape &launch : fixedShapes)
    for (const auto *tensors : {&launch.shape.inputs, &launch.shape.outputs})
      for (const BoundShape::Tensor &tensor : *tensors) {
        std::int64_t elements = 1;
        for (std::int64_t extent : tensor.extents)
          elements *= extent;
        count += elements;
      }
  return count <= most;
}

void Executor::bindSymbols(const std::vector<SymbolBinding> &bindings,
                           Frame &frame) const {
  for (const SymbolBinding &binding : bindings) {
    const c10::IValue &value = frame.slots[binding.slot];
    SizeValue &symbol = frame.symbols[binding.symbol];
    if (binding.from != SymbolBinding::From::Scalar)
      checkAxis(binding, value);
    switch (binding.from) {
    case SymbolBinding::From::Extent:
      symbol = {false, value.toTensor().size(binding.axis), 0};
      break;
    case SymbolBinding::From::Stride:
      symbol = {false, value.toTensor().stride(binding.axis), 0};
      break;
    case SymbolBinding::From::Offset:
      symbol = {false, value.toTensor().storage_offset(), 0};
      break;
    case SymbolBinding::From::Scalar:
      symbol = numberOf(value);
      break;
    }
    // A rest is found where the whole is compared.
    if (symbol.isFloat)
      symbol.real /= static_cast<double>(binding.divisor);
    else
      symbol.integer /= binding.divisor;
  }
}

/// Whether the tensor already lies as promised. An axis of extent 1 is never
/// stepped along, and an empty tensor has nothing to lie anywhere.
static bool hasStrides(const at::Tensor &tensor, at::IntArrayRef strides) {
  at::IntArrayRef sizes = tensor.sizes(), own = tensor.strides();
  if (own.equals(strides) || sizes.size() != strides.size() ||
      tensor.numel() == 0)
    return true;
  for (std::size_t axis = 0; axis != sizes.size(); ++axis)
    if (sizes[axis] != 1 && own[axis] != strides[axis])
      return false;
  return true;
}

/// Kernels read memory as it lies: conjugates and negatives that torch has only
/// marked are computed first.
static bool isMarked(const at::Tensor &tensor) {
  return tensor.is_neg() || tensor.is_conj();
}

/// One element along each axis that steps nowhere in both: the others are the
/// same, and torch refuses to write one place twice.
static at::Tensor distinct(at::Tensor tensor, at::IntArrayRef strides) {
  for (std::int64_t axis = 0; axis != tensor.dim(); ++axis)
    if (tensor.size(axis) > 1 && tensor.stride(axis) == 0 && strides[axis] == 0)
      tensor = tensor.narrow(axis, 0, 1);
  return tensor;
}

static at::Tensor settled(const at::Tensor &tensor) {
  return distinct(tensor, tensor.strides())
      .resolve_conj()
      .resolve_neg()
      .expand(tensor.sizes());
}

at::Tensor Executor::withStrides(const at::Tensor &tensor,
                                 at::IntArrayRef strides) const {
  if (tensor.layout() != at::kStrided || hasStrides(tensor, strides))
    return tensor;
  at::Tensor source = distinct(tensor, strides);
  at::Tensor result =
      tensor.is_cpu()
          ? emptyTensor(
                *options.memory, source.sizes(), strides, source.scalar_type(),
                storageBytes(source.sizes(), strides, source.scalar_type()))
          : at::empty_strided(source.sizes(), strides, source.options());
  return result.copy_(source).expand(tensor.sizes());
}

void Executor::storeResults(const Step &step, std::vector<c10::IValue> stack,
                            Frame &frame) const {
  if (step.call.returnsList) {
    auto list = stack.front().toList();
    std::vector<c10::IValue> elements(list.begin(), list.end());
    stack = std::move(elements);
  }
  if (stack.size() < step.call.results.size())
    raiseCount(step, stack.size());
  // A symbol may first be seen in the shape of the very result.
  for (std::size_t i = 0; i != step.call.results.size(); ++i)
    frame.slots[step.call.results[i].slot] = std::move(stack[i]);
  bindSymbols(step.bindings, frame);
  for (const StepResult &result : step.call.results)
    settle(step, result, frame.slots[result.slot], frame);
  checkAssumptions(step.assumptions, frame);
}

void Executor::settle(const Step &step, const StepResult &result,
                      c10::IValue &value, const Frame &frame) const {
  if (result.isChecked) {
    if (launchPlan.graph->values[result.slot].scalar())
      return checkNumber(result.slot, value, frame);
    checkResult(step, result, value, frame);
  }
  if (!value.isTensor() || !value.toTensor().defined())
    return;
  if (!step.isView && isMarked(value.toTensor()))
    value = settled(value.toTensor());
  // Of some operators the tracer does not know the type that ATen gives.
  if (result.scalarType >= 0)
    value = value.toTensor().to(static_cast<at::ScalarType>(result.scalarType));
  if (result.strides.empty())
    return;
  const SizeTable &sizes = *compiled.fusion->sizes;
  c10::SmallVector<std::int64_t, 8> strides;
  for (Size stride : result.strides)
    strides.push_back(sizes.evaluate(stride, frame.symbols).asInt());
  value = withStrides(value.toTensor(), strides);
}

at::Tensor Executor::emptyFor(ValueId id, const Frame &frame) const {
  const SizeTable &sizes = *compiled.fusion->sizes;
  const TensorFacts *facts = launchPlan.graph->values[id].tensor();
  c10::SmallVector<std::int64_t, 8> extents, strides;
  for (Size size : facts->sizes)
    extents.push_back(sizes.evaluate(size, frame.symbols).asInt());
  for (Size stride : facts->strides)
    strides.push_back(sizes.evaluate(stride, frame.symbols).asInt());
  auto type = static_cast<at::ScalarType>(facts->scalarType);
  if (facts->memory != DeviceId())
    return at::empty_strided(
        extents, strides,
        at::TensorOptions(type).device(deviceNamed(facts->device)));
  return emptyTensor(*options.memory, extents, strides, type,
                     storageBytes(extents, strides, type));
}

std::vector<c10::IValue> Executor::stackFor(const Step &step,
                                            const Frame &frame) const {
  std::vector<c10::IValue> stack;
  if (step.call.isAllocation()) {
    for (const StepResult &result : step.call.results)
      stack.emplace_back(emptyFor(result.slot, frame));
    return stack;
  }
  stack.reserve(step.call.arguments.size());
  for (const ArgumentTemplate &argument : step.call.arguments)
    stack.push_back(instantiate(argument, *compiled.fusion->sizes, frame));
  if (step.call.given >= 0)
    stack[step.call.given] = emptyFor(step.call.results[0].slot, frame);
  return stack;
}

/// A view counts the changes of what it is a view of, as autograd asks when a
/// backward reads what was saved for it. The keys below autograd do not see to
/// that.
static void shareVersion(const c10::IValue &result, const at::Tensor &viewed) {
  if (!result.isTensor() || !result.toTensor().defined())
    return;
  const at::Tensor &tensor = result.toTensor();
  c10::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  const c10::VariableVersion &version =
      viewed.unsafeGetTensorImpl()->version_counter();
  bool isShared = tensor.has_storage() && viewed.has_storage() &&
                  tensor.is_alias_of(viewed);
  if (isShared && !tensor.is_same(viewed) && version.enabled() &&
      !tensor.is_inference())
    impl->set_version_counter(version);
}

void Executor::runCall(const Step &step, Frame &frame) const {
  const Graph &graph = *launchPlan.graph;
  std::vector<c10::IValue> stack = stackFor(step, frame);
  at::Tensor viewed;
  if (step.call.viewOf >= 0 && stack[step.call.viewOf].isTensor())
    viewed = stack[step.call.viewOf].toTensor();
  for (ValueId id : step.frees)
    frame.slots[id] = {};
  if (options.trace)
    options.trace((step.call.host >= 0        ? "host "
                   : step.call.isAllocation() ? "memory "
                                              : "aten ") +
                  graph.nodes[step.node].overload + " -> " +
                  graph.nodes[step.node].name);
  std::int64_t nanoseconds = callOperator(step, stack);
  storeResults(step, std::move(stack), frame);
  if (viewed.defined())
    for (const StepResult &result : step.call.results)
      shareVersion(frame.slots[result.slot], viewed);
  report(step, frame, nullptr, nanoseconds);
  for (ValueId id : step.frees)
    frame.slots[id] = {};
}

/// Kernels are made for the tensors that were traced. Nobody guards the strides
/// of gradients that autograd brings, nor anything of a graph that is called by
/// itself.
void Executor::checkInputs(Frame &frame) const {
  const auto &inputs = launchPlan.kernelInputs;
  const auto &targets = launchPlan.kernelTargets;
  std::optional<ExpectedTensor> made;
  auto expected = [&](ValueId id, std::size_t index) -> const ExpectedTensor & {
    if (index < fixedInputs.size())
      return fixedInputs[index];
    return made.emplace(expectedOf(id, frame.symbols));
  };
  // First: an input that is laid anew is no longer what is written to.
  for (std::size_t i = 0; i != targets.size(); ++i) {
    const ExpectedTensor &traced = expected(targets[i], inputs.size() + i);
    const c10::IValue &slot = frame.slots[targets[i]];
    checkArgument(targets[i], slot, traced);
    if (isMarked(slot.toTensor()) ||
        !hasStrides(slot.toTensor(), traced.strides))
      raise("an argument that the graph writes to has other strides than when "
            "it was traced");
  }
  for (std::size_t i = 0; i != inputs.size(); ++i) {
    const ExpectedTensor &traced = expected(inputs[i], i);
    c10::IValue &slot = frame.slots[inputs[i]];
    bool isKnown = isAsTraced(slot, traced);
    if (!isKnown)
      checkArgument(inputs[i], slot, traced);
    const at::Tensor &tensor = slot.toTensor();
    if (isMarked(tensor) || (!isKnown && !hasStrides(tensor, traced.strides)))
      slot = withStrides(settled(tensor), traced.strides);
  }
}

void Executor::runKernel(const Step &step, Frame &frame) const {
  std::optional<LaunchShape> made;
  if (fixedShapes.empty())
    made = launchShape(step.kernel, frame.symbols);
  const LaunchShape &launch = made ? *made : fixedShapes[step.kernel];
  if (options.trace)
    options.trace("kernel " +
                  compiled.kernels[step.kernel]->operands().declaration);
  c10::SmallVector<void *, 16> pointers;
  for (const LaunchShape::Place &input : launch.inputs) {
    const at::Tensor &base = frame.slots[input.slot].toTensor();
    auto *data = static_cast<const char *>(base.const_data_ptr());
    pointers.push_back(const_cast<char *>(data + input.offset));
  }
  for (std::size_t input : launchPlan.windows[step.kernel])
    checkWindow(step, launch, input, frame);
  for (const LaunchShape::Output &output : launch.outputs) {
    c10::IValue &slot = frame.slots[output.place.slot];
    if (!output.isPart || slot.isNone())
      slot = memoryFor(launch, output, frame);
    pointers.push_back(static_cast<char *>(slot.toTensor().mutable_data_ptr()) +
                       output.place.offset);
  }
  if (!launch.refusal.empty())
    runApart(step, launch.refusal, frame);
  else if (std::string refusal;
           launch.handle &&
           !this->launch(step, launch, pointers, frame, refusal))
    runApart(step, refusal, frame);
  for (ValueId id : step.frees)
    frame.slots[id] = {};
}

void Executor::fillFrame(Values &&arguments, Frame &frame) const {
  const Graph &graph = *launchPlan.graph;
  if (arguments.size() != inputSlots.size())
    raise("the graph takes " + std::to_string(inputSlots.size()) +
          " arguments, not " + std::to_string(arguments.size()));
  frame.slots.resize(graph.values.size());
  // What is computed from a size that is not known yet is no size.
  constexpr SizeValue unknown = {true, 0,
                                 std::numeric_limits<double>::quiet_NaN()};
  frame.symbols.resize(graph.sizes.symbols().size(), unknown);
  for (std::size_t i = 0; i != inputSlots.size(); ++i)
    frame.slots[inputSlots[i]] = std::move(arguments[i]);
  for (const auto &[id, value] : constants)
    frame.slots[id] = value;
  for (ValueId id : launchPlan.seeds)
    frame.slots[id] = drawnSeed();
  bindSymbols(launchPlan.inputBindings, frame);
  for (ValueId id : inputSlots)
    if (graph.values[id].scalar())
      checkNumber(id, frame.slots[id], frame);
  checkAssumptions(launchPlan.inputAssumptions, frame);
  checkInputs(frame);
  for (ValueId id : launchPlan.unusedInputs)
    frame.slots[id] = {};
}

/// Launches that go on for long ask for themselves, so a few of them may run
/// without looking at a clock; an operator of ATen costs more than that.
void Executor::heedUser(const Step &step, int &launches) const {
  constexpr int few = 8;
  bool isAsked = step.kernel < 0 ? !step.isView : ++launches % few == 0;
  if (isAsked && options.user && !options.user->goesOn())
    raise("interrupted");
}

Progress Executor::heedWhileWaiting() const {
  if (!options.user)
    return {};
  return [this](std::size_t /*done*/, std::size_t /*total*/) {
    if (!options.user->goesOn())
      raise("interrupted");
  };
}

void Executor::makeCode() const {
  quern::makeCode(compiled.kernels, *compiled.fusion->sizes,
                  heedWhileWaiting());
}

/// Sizes that come for the first time may need code of their own.
Result<std::monostate> Executor::awaitCode(LaunchHandle &handle) const {
  Result<std::monostate> made = std::monostate();
  if (!handle.readyAtOnce())
    forEach(1, heedWhileWaiting(), [&](std::size_t, std::stop_token stop) {
      made = handle.ready(std::move(stop));
    });
  return made;
}

Executor::Values Executor::run(Values &&arguments) const {
  at::AutoDispatchBelowADInplaceOrView guard;
  Values results;
  Frame frame;
  fillFrame(std::move(arguments), frame);
  int launches = 0;
  for (const Step &step : launchPlan.steps) {
    if (step.kernel >= 0)
      runKernel(step, frame);
    else
      runCall(step, frame);
    heedUser(step, launches);
  }
  ++counts->calls;
  options.memory->endCall();
  if (!hasRun.load(std::memory_order_relaxed))
    hasRun = true;
  for (const ArgumentTemplate &output : outputs)
    results.push_back(instantiate(output, *compiled.fusion->sizes, frame));
  return results;
}

} // namespace quern
