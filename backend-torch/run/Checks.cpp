// Compares what callers and operators hand over with what was traced: a kernel
// trusts the sizes that it was made for.
#include "backend-torch/run/Checks.h"
#include "backend-torch/run/Raise.h"

#include <algorithm>
#include <cmath>

namespace quern {

/// "float32[3, 4] on cpu".
static std::string describe(at::IntArrayRef sizes, at::ScalarType type,
                            const std::string &device) {
  std::string text;
  for (std::int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return std::string(c10::getDtypeNames(type).first) + "[" + text + "] on " +
         device;
}

static std::string describe(const c10::IValue &value) {
  if (!value.isTensor())
    return "`" + value.tagKind() + "`, not a tensor";
  const at::Tensor &tensor = value.toTensor();
  if (!tensor.defined())
    return "no tensor";
  if (tensor.layout() != at::kStrided)
    return "a tensor of layout " + c10::str(tensor.layout());
  return describe(tensor.sizes(), tensor.scalar_type(), tensor.device().str());
}

static std::string describe(const ExpectedTensor &expected) {
  return describe(expected.sizes, expected.type,
                  expected.device ? expected.device->str() : "any device");
}

static bool isInStorage(const at::Tensor &tensor) {
  return isInStorage(tensor, storageBytes(tensor.sizes(), tensor.strides(),
                                          tensor.scalar_type()));
}

/// "`mylib::op` (model.py:12)".
static std::string nameOf(const Node &node) {
  std::string text = "`" + node.overload + "`";
  return node.source.empty() ? text : text + " (" + node.source + ")";
}

static std::string reasonOf(const Node &node) {
  if (!node.definesSizes)
    return ": incorrect fake kernel";
  return node.sizesAssumed.empty() ? "" : " since " + node.sizesAssumed;
}

ExpectedTensor Executor::expectedOf(ValueId id,
                                    std::span<const SizeValue> symbols) const {
  const SizeTable &sizes = *compiled.fusion->sizes;
  const TensorFacts &facts = *launchPlan.graph->values[id].tensor();
  ExpectedTensor expected;
  for (Size size : facts.sizes)
    expected.sizes.push_back(sizes.evaluate(size, symbols).asInt());
  for (Size stride : facts.strides)
    expected.strides.push_back(sizes.evaluate(stride, symbols).asInt());
  expected.type = static_cast<at::ScalarType>(facts.scalarType);
  if (facts.memory)
    expected.device = torchDevice(*facts.memory);
  expected.bytes =
      storageBytes(expected.sizes, expected.strides, expected.type);
  return expected;
}

void Executor::checkArgument(ValueId id, const c10::IValue &value,
                             const ExpectedTensor &expected) const {
  if (matches(value, expected) && isInStorage(value.toTensor()))
    return;
  std::string name = "`" + launchPlan.graph->producer(id).name + "`";
  if (matches(value, expected))
    raise("the storage of the argument " + name + ", " + describe(value) +
          ", is smaller than the tensor");
  raise("the argument " + name + " is " + describe(value) +
        ", the graph was traced for " + describe(expected));
}

void Executor::checkResult(const Step &step, const StepResult &result,
                           const c10::IValue &value, const Frame &frame) const {
  ExpectedTensor expected = expectedOf(result.slot, frame.symbols);
  if (isAsTraced(value, expected))
    return;
  const Node &node = launchPlan.graph->nodes[step.node];
  // Of some operators the tracer does not know the type that ATen gives.
  if (result.scalarType >= 0 && node.overload.starts_with("aten::") &&
      value.isTensor() && value.toTensor().defined())
    expected.type = value.toTensor().scalar_type();
  if (matches(value, expected) && isInStorage(value.toTensor()))
    return;
  raise(nameOf(node) + " gave " + describe(value) +
        ", the traced program assumes " + describe(expected) + reasonOf(node));
}

void Executor::checkWindow(const Step &step, const LaunchShape &launch,
                           std::size_t input, const Frame &frame) const {
  const BoundShape::Tensor &window = launch.shape.inputs[input];
  const LaunchShape::Place &place = launch.inputs[input];
  const at::Tensor &base = frame.slots[place.slot].toTensor();
  ValueId value = compiled.kernels[step.kernel]->operands().inputs[input].value;
  auto type = static_cast<at::ScalarType>(
      launchPlan.graph->values[value].tensor()->scalarType);
  auto bytes = static_cast<std::int64_t>(
      storageBytes(window.extents, window.strides, type));
  std::int64_t start =
      base.storage_offset() * static_cast<std::int64_t>(base.element_size()) +
      place.offset;
  auto there = static_cast<std::int64_t>(base.storage().nbytes());
  if (bytes == 0 || (start >= 0 && start <= there && bytes <= there - start))
    return;
  const Node &node = launchPlan.graph->producer(value);
  raise(nameOf(node) + " reads bytes " + std::to_string(start) + " to " +
        std::to_string(start + bytes) + " of a storage of " +
        std::to_string(there));
}

static std::string print(SizeValue value) {
  return value.isFloat ? c10::str(value.real) : std::to_string(value.integer);
}

SizeValue numberOf(const c10::IValue &value) {
  if (value.isDouble())
    return {true, 0, value.toDouble()};
  return {false, value.isBool() ? value.toBool() : value.toInt(), 0};
}

/// A size is taken from a tensor before the tensor as a whole is compared.
void Executor::checkAxis(const SymbolBinding &binding,
                         const c10::IValue &value) const {
  if (value.isTensor() && value.toTensor().defined() &&
      (binding.from == SymbolBinding::From::Offset ||
       binding.axis < value.toTensor().dim()))
    return;
  const Graph &graph = *launchPlan.graph;
  const Node &node = graph.producer(binding.slot);
  bool isInput = node.kind == NodeKind::Input;
  raise((isInput ? "the argument `" + node.name + "` is "
                 : nameOf(node) + " gave ") +
        describe(value) + ", the traced program assumes " +
        print(graph, graph.values[binding.slot].facts) +
        (isInput ? "" : reasonOf(node)));
}

void Executor::raiseCount(const Step &step, std::size_t count) const {
  const Node &node = launchPlan.graph->nodes[step.node];
  raise(nameOf(node) + " gave " + std::to_string(count) +
        " results, the traced program assumes " +
        std::to_string(step.call.results.size()) + reasonOf(node));
}

void Executor::checkConstants() const {
  for (const auto &[id, value] : constants)
    if (std::ranges::any_of(compiled.kernels, [&](const auto &kernel) {
          return std::ranges::any_of(
              kernel->operands().inputs,
              [&](const KernelOperand &input) { return input.base == id; });
        }))
      checkArgument(id, value, expectedOf(id, compiled.fusion->sizes->hints()));
}

void Executor::checkNumber(ValueId id, const c10::IValue &value,
                           const Frame &frame) const {
  const Graph &graph = *launchPlan.graph;
  SizeValue made = numberOf(value);
  SizeValue traced = compiled.fusion->sizes->evaluate(
      graph.values[id].scalar()->value, frame.symbols);
  bool isNan = std::isnan(made.asDouble()) && std::isnan(traced.asDouble());
  bool isSame = made.isFloat || traced.isFloat
                    ? made.asDouble() == traced.asDouble()
                    : made.integer == traced.integer;
  if (isSame || isNan)
    return;
  const Node &node = graph.producer(id);
  raise((node.kind == NodeKind::Input ? "the argument `" + node.name + "` is "
                                      : nameOf(node) + " gave ") +
        print(made) + ", the traced program assumes " + print(traced) +
        (node.kind == NodeKind::Input ? "" : reasonOf(node)));
}

void Executor::checkAssumptions(std::span<const int> indices,
                                const Frame &frame) const {
  const SizeTable &sizes = *compiled.fusion->sizes;
  for (int index : indices) {
    const Assumption &assumption = launchPlan.graph->assumptions[index];
    if (sizes.evaluate(assumption.holds, frame.symbols).asDouble() != 0)
      continue;
    std::string text = assumption.message;
    text += (text.empty() ? "" : "\n") + std::string("the program was ") +
            "compiled for sizes with " + assumption.text;
    for (std::size_t i = 0; i != assumption.sides.size(); ++i)
      text += (i == 0 ? ", not " : " and ") +
              print(sizes.evaluate(assumption.sides[i], frame.symbols));
    if (!assumption.source.empty())
      text += " (" + assumption.source + ")";
    raise(text);
  }
}

} // namespace quern
