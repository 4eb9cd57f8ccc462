// Binding kernels to sizes, lending handles, compiling in parallel.
#include "backend-torch/compiled/GraphKernels.h"

#include <atomic>
#include <thread>

namespace quern {

static BoundShape::Tensor evaluated(const KernelOperand &operand,
                                    const SizeTable &sizes,
                                    std::span<const SizeValue> symbols) {
  auto value = [&](Size size) { return sizes.evaluate(size, symbols).asInt(); };
  BoundShape::Tensor tensor;
  for (Size extent : operand.extents)
    tensor.extents.push_back(value(extent));
  for (Size stride : operand.strides)
    tensor.strides.push_back(value(stride));
  tensor.offset = value(operand.offset);
  return tensor;
}

BoundShape shapeOf(const GroupKernel &kernel, const SizeTable &sizes,
                   std::span<const SizeValue> symbols) {
  BoundShape shape;
  for (const KernelOperand &input : kernel.inputs)
    shape.inputs.push_back(evaluated(input, sizes, symbols));
  for (const KernelOperand &output : kernel.outputs)
    shape.outputs.push_back(evaluated(output, sizes, symbols));
  for (Size number : kernel.numbers)
    shape.numbers.push_back(sizes.evaluate(number, symbols).asInt());
  for (const auto *tensors : {&shape.inputs, &shape.outputs})
    for (const BoundShape::Tensor &tensor : *tensors) {
      shape.words.insert(shape.words.end(), tensor.extents.begin(),
                         tensor.extents.end());
      shape.words.insert(shape.words.end(), tensor.strides.begin(),
                         tensor.strides.end());
    }
  shape.words.insert(shape.words.end(), shape.numbers.begin(),
                     shape.numbers.end());
  return shape;
}

static TensorView viewOf(const KernelOperand &operand,
                         const BoundShape::Tensor &tensor, bool writable) {
  return {.data = nullptr,
          .type = operand.type,
          .sizes = tensor.extents,
          .strides = tensor.strides,
          .writable = writable};
}

Result<std::unique_ptr<LaunchHandle>>
GraphKernel::bind(const BoundShape &shape) const {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i != shape.inputs.size(); ++i)
    arguments.push_back(viewOf(group.inputs[i], shape.inputs[i], false));
  for (std::int64_t number : shape.numbers)
    arguments.push_back(number);
  std::vector<TensorView> outputs;
  for (std::size_t i = 0; i != shape.outputs.size(); ++i)
    outputs.push_back(viewOf(group.outputs[i], shape.outputs[i], true));
  return module->bind(group.declaration, arguments, outputs);
}

Result<GraphKernel::Lease> GraphKernel::lease(const BoundShape &shape) {
  {
    std::lock_guard lock(mutex);
    auto it = idle.find(shape.words);
    if (it != idle.end() && !it->second.empty()) {
      std::unique_ptr<LaunchHandle> handle = std::move(it->second.back());
      it->second.pop_back();
      return Lease(*this, shape, std::move(handle));
    }
  }
  Result<std::unique_ptr<LaunchHandle>> handle = bind(shape);
  if (!handle)
    return handle.error();
  return Lease(*this, shape, std::move(*handle));
}

void GraphKernel::giveBack(const BoundShape &shape,
                           std::unique_ptr<LaunchHandle> handle) {
  // Sizes that change with every call would pile up without end.
  constexpr std::size_t mostShapes = 256;
  std::lock_guard lock(mutex);
  if (idle.size() >= mostShapes && !idle.contains(shape.words))
    idle.clear();
  idle[shape.words].push_back(std::move(handle));
}

GraphKernel::Lease::~Lease() {
  if (handle)
    owner.giveBack(shape, std::move(handle));
}

static Result<std::unique_ptr<GraphKernel>>
compileOne(const Program &program, const GroupKernel &group,
           const SizeTable &sizes, Compiler &compiler, bool codeNow) {
  Result<std::shared_ptr<const CompiledModule>> module =
      compiler.compile(program.units.at(group.declaration), group.declaration);
  if (!module)
    return module.error();
  auto kernel = std::make_unique<GraphKernel>(group, *module);
  BoundShape shape = shapeOf(group, sizes, sizes.hints());
  Result<GraphKernel::Lease> lease = kernel->lease(shape);
  if (!lease)
    return lease.error();
  if (codeNow)
    if (Result<std::monostate> ready = (*lease)->ready(); !ready)
      return ready.error();
  return kernel;
}

GraphKernels compileProgram(const Program &program, const SizeTable &sizes,
                            Compiler &compiler, bool codeNow,
                            const Progress &progress) {
  GraphKernels result;
  std::size_t count = program.kernels.size();
  result.kernels.resize(count);
  std::vector<std::string> errors(count);
  std::atomic<std::size_t> next = 0, done = 0;
  auto work = [&](const Progress &tell) {
    for (std::size_t i = next++; i < count; i = next++, ++done) {
      if (tell)
        tell(done, count);
      auto kernel =
          compileOne(program, program.kernels[i], sizes, compiler, codeNow);
      if (kernel)
        result.kernels[i] = std::move(*kernel);
      else
        errors[i] = kernel.error().message;
    }
  };
  std::size_t threads =
      std::min<std::size_t>(count, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < threads; ++i)
    helpers.emplace_back(work, Progress());
  try {
    work(progress);
  } catch (...) {
    next = count;
    throw;
  }
  helpers.clear();
  for (std::size_t i = 0; i != count; ++i)
    if (!result.kernels[i])
      result.refused.emplace_back(static_cast<int>(i), errors[i]);
  return result;
}

} // namespace quern
