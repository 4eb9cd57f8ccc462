// What a launch needs besides the pointers of its inputs: shapes, a handle, and
// memory for its outputs.
#include "backend-torch/run/Executor.h"
#include "backend-torch/run/Memory.h"
#include "backend-torch/run/Raise.h"

#include <ATen/ATen.h>

#include <set>

namespace quern {

/// Of one element.
static std::int64_t bytesOf(const Value &value) {
  auto type = static_cast<at::ScalarType>(value.tensor()->scalarType);
  return static_cast<std::int64_t>(c10::elementSize(type));
}

Executor::LaunchShape::Output
Executor::outputOf(const KernelOperand &operand,
                   const BoundShape::Tensor &bound,
                   std::span<const SizeValue> symbols) const {
  const SizeTable &sizes = *compiled.fusion->sizes;
  const std::vector<Value> &values = launchPlan.graph->values;
  const TensorFacts *facts = values[operand.base].tensor();
  LaunchShape::Output output;
  output.place = {operand.base, bound.offset * bytesOf(values[operand.value])};
  output.isPart = operand.isPlaced;
  output.type = static_cast<at::ScalarType>(facts->scalarType);
  output.device = deviceNamed(facts->device);
  for (Size size : facts->sizes)
    output.sizes.push_back(sizes.evaluate(size, symbols).asInt());
  for (std::int64_t size : output.sizes)
    if (size < 0)
      raise("a result of `" + launchPlan.graph->producer(operand.base).name +
            "` would have the size " + std::to_string(size));
  for (Size stride : facts->strides)
    output.strides.push_back(sizes.evaluate(stride, symbols).asInt());
  output.bytes = storageBytes(output.sizes, output.strides, output.type);
  return output;
}

Executor::LaunchShape
Executor::launchShape(int kernel, std::span<const SizeValue> symbols) const {
  const SizeTable &sizes = *compiled.fusion->sizes;
  const Graph &graph = *launchPlan.graph;
  LaunchShape result;
  result.shape = shapeOf(compiled.kernels[kernel]->operands(), sizes, symbols);
  const GroupKernel &operands = compiled.kernels[kernel]->operands();
  for (std::size_t i = 0; i != operands.inputs.size(); ++i) {
    const Value &value = graph.values[operands.inputs[i].value];
    result.inputs.push_back({operands.inputs[i].base,
                             result.shape.inputs[i].offset * bytesOf(value)});
  }
  bool hasElements = operands.outputs.empty();
  for (std::size_t i = 0; i != operands.outputs.size(); ++i) {
    const BoundShape::Tensor &bound = result.shape.outputs[i];
    hasElements |= std::ranges::count(bound.extents, 0) == 0;
    result.outputs.push_back(outputOf(operands.outputs[i], bound, symbols));
  }
  result.isEmpty = !hasElements;
  result.device = torchDevice(operands.device);
  if (result.isEmpty)
    return result;
  auto handle = compiled.kernels[kernel]->handle(result.shape);
  if (!handle) {
    result.refusal = handle.error().message;
    return result;
  }
  result.handle = std::move(*handle);
  findTaken(kernel, result);
  return result;
}

/// Outputs in the place of inputs that nothing reads afterwards. Who observes
/// wants to see those as they were.
void Executor::findTaken(int kernel, LaunchShape &launch) const {
  if (options.observe || !launch.device.is_cpu())
    return;
  std::set<std::size_t> free(launchPlan.dying[kernel].begin(),
                             launchPlan.dying[kernel].end());
  for (std::size_t i = 0; i != launch.outputs.size(); ++i) {
    const BoundShape::Tensor &own = launch.shape.outputs[i];
    auto fits = [&](std::size_t input) {
      const BoundShape::Tensor &other = launch.shape.inputs[input];
      return other.offset == 0 && own.offset == 0 &&
             other.extents == own.extents && other.strides == own.strides &&
             launch.handle->mayCoincide(launch.inputs.size() + i, input);
    };
    auto found = std::ranges::find_if(free, fits);
    if (launch.outputs[i].isPart || found == free.end())
      continue;
    launch.outputs[i].takes = static_cast<int>(*found);
    free.erase(found);
  }
}

at::Tensor Executor::memoryFor(const LaunchShape &launch,
                               const LaunchShape::Output &output,
                               const Frame &frame) const {
  if (output.takes >= 0) {
    const at::Tensor &dying =
        frame.slots[launch.inputs[output.takes].slot].toTensor();
    if (Memory::isAlone(dying) && dying.storage().nbytes() == output.bytes)
      return tensorIn(dying.storage(), output.sizes, output.strides,
                      output.type);
  }
  if (output.device.is_cpu())
    return emptyTensor(*options.memory, output.sizes, output.strides,
                       output.type, output.bytes);
  // From torch's allocator for the device.
  return at::empty_strided(
      output.sizes, output.strides,
      at::TensorOptions(output.type).device(output.device));
}

} // namespace quern
