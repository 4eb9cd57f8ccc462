// Binding kernels to sizes, lending handles, compiling in parallel.
#include "backend-torch/compiled/GraphKernels.h"

#include <bit>

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

/// `number` gives what an expression is worth, and notes it in the key.
template <typename Number>
static Argument evaluated(const KernelArgument &argument, Number number) {
  switch (argument.kind) {
  case KernelArgument::Kind::Absent:
  case KernelArgument::Kind::Tensor:
    return std::monostate();
  case KernelArgument::Kind::Integers: {
    std::vector<std::int64_t> values;
    for (Size size : argument.integers)
      values.push_back(number(size).asInt());
    if (argument.isList)
      return values;
    return values.front();
  }
  case KernelArgument::Kind::Reals: {
    std::vector<double> values;
    for (Size size : argument.reals)
      values.push_back(number(size).asDouble());
    if (argument.isList)
      return values;
    return values.front();
  }
  case KernelArgument::Kind::Bool:
    return argument.truth;
  case KernelArgument::Kind::Text:
    return argument.text;
  }
  return std::monostate();
}

BoundShape shapeOf(const GroupKernel &kernel, const SizeTable &sizes,
                   std::span<const SizeValue> symbols) {
  BoundShape shape;
  for (const KernelOperand &input : kernel.inputs)
    shape.inputs.push_back(evaluated(input, sizes, symbols));
  for (const KernelOperand &output : kernel.outputs)
    shape.outputs.push_back(evaluated(output, sizes, symbols));
  auto number = [&](Size size) {
    SizeValue value = sizes.evaluate(size, symbols);
    shape.words.push_back(value.isFloat
                              ? std::bit_cast<std::int64_t>(value.real)
                              : value.integer);
    return value;
  };
  for (const KernelArgument &argument : kernel.arguments)
    shape.arguments.push_back(evaluated(argument, number));
  for (const auto &[name, argument] : kernel.constants)
    shape.constants.emplace_back(name, evaluated(argument, number));
  for (const auto *tensors : {&shape.inputs, &shape.outputs})
    for (const BoundShape::Tensor &tensor : *tensors) {
      shape.words.insert(shape.words.end(), tensor.extents.begin(),
                         tensor.extents.end());
      shape.words.insert(shape.words.end(), tensor.strides.begin(),
                         tensor.strides.end());
    }
  return shape;
}

static TensorView viewOf(const KernelOperand &operand,
                         const BoundShape::Tensor &tensor, bool writable,
                         DeviceId device) {
  return {.data = nullptr,
          .type = operand.type,
          .sizes = tensor.extents,
          .strides = tensor.strides,
          .writable = writable,
          .device = device};
}

Result<std::unique_ptr<LaunchHandle>>
GraphKernel::bind(const BoundShape &shape) const {
  std::vector<Argument> arguments = shape.arguments;
  auto input = [&](std::size_t i) {
    return viewOf(group.inputs[i], shape.inputs[i], /*writable=*/false,
                  group.device);
  };
  for (std::size_t i = 0; i != arguments.size(); ++i) {
    const KernelArgument &argument = group.arguments[i];
    if (argument.kind != KernelArgument::Kind::Tensor)
      continue;
    if (!argument.isList) {
      arguments[i] = input(argument.input);
      continue;
    }
    std::vector<TensorView> list;
    for (std::size_t k = 0; k != argument.count; ++k)
      list.push_back(input(argument.input + k));
    arguments[i] = std::move(list);
  }
  std::vector<TensorView> outputs;
  for (std::size_t i = 0; i != shape.outputs.size(); ++i)
    outputs.push_back(viewOf(group.outputs[i], shape.outputs[i],
                             /*writable=*/true, group.device));
  return module->bind(group.declaration, arguments, outputs, shape.constants);
}

Result<std::shared_ptr<LaunchHandle>>
GraphKernel::handle(const BoundShape &shape) {
  // Sizes that change with every call would pile up without end.
  constexpr std::size_t mostShapes = 256;
  {
    std::lock_guard lock(mutex);
    if (auto it = handles.find(shape.words); it != handles.end())
      return it->second;
  }
  Result<std::unique_ptr<LaunchHandle>> bound = bind(shape);
  if (!bound)
    return bound.error();
  // Goes when the lock is given back: what it holds may lock the session.
  decltype(handles) dropped;
  std::lock_guard lock(mutex);
  if (handles.size() >= mostShapes)
    handles.swap(dropped);
  return handles.try_emplace(shape.words, std::move(*bound)).first->second;
}

static Result<std::unique_ptr<GraphKernel>>
compileOne(const Program &program, const GroupKernel &group,
           const SizeTable &sizes, Compiler &compiler, bool codeNow,
           const std::stop_token &stop) {
  Result<std::shared_ptr<const CompiledModule>> module =
      group.module.empty()
          ? compiler.compile(program.units.at(group.declaration),
                             group.declaration, stop)
          : compiler.library(group.module);
  if (!module)
    return module.error();
  auto kernel = std::make_unique<GraphKernel>(group, *module);
  BoundShape shape = shapeOf(group, sizes, sizes.hints());
  Result<std::shared_ptr<LaunchHandle>> handle = kernel->handle(shape);
  if (!handle)
    return handle.error();
  if (codeNow)
    if (Result<std::monostate> ready = (*handle)->ready(stop); !ready)
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
  forEach(count, progress, [&](std::size_t i, const std::stop_token &stop) {
    auto kernel =
        compileOne(program, program.kernels[i], sizes, compiler, codeNow, stop);
    if (kernel)
      result.kernels[i] = std::move(*kernel);
    else
      errors[i] = kernel.error().message;
  });
  for (std::size_t i = 0; i != count; ++i)
    if (!result.kernels[i])
      result.refused.emplace_back(static_cast<int>(i), errors[i]);
  return result;
}

void makeCode(std::span<const std::unique_ptr<GraphKernel>> kernels,
              const SizeTable &sizes, const Progress &progress) {
  auto make = [&](std::size_t i, const std::stop_token &stop) {
    BoundShape shape = shapeOf(kernels[i]->operands(), sizes, sizes.hints());
    if (auto handle = kernels[i]->handle(shape))
      (void)(*handle)->ready(stop);
  };
  forEach(kernels.size(), progress, make);
}

} // namespace quern
