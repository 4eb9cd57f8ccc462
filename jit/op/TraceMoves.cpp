// Fills and copies in an `op`: steps on the host, launches on a device.
#include "jit/op/Trace.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

/// `move(source)`, or `move(source, number)`, into `target`.
bool OpTracer::launchMove(const Declaration &move, const PlanTensor &source,
                          std::optional<std::int64_t> number,
                          const PlanTensor &target) {
  std::vector<Argument> arguments = {source.view()};
  if (number)
    arguments.emplace_back(*number);
  TensorView out = target.view();
  CallRequest request{.declaration = move,
                      .arguments = arguments,
                      .outs = out,
                      .constants = {}};
  std::optional<BoundCall> bound = bind(request);
  if (!bound)
    return false;
  PlanStep step;
  step.kernels.push_back(std::move(bound->kernel));
  step.tensors = {source, target};
  step.written = {false, true};
  plan->steps.push_back(std::move(step));
  return true;
}

bool OpTracer::copy(const PlanTensor &target, const PlanTensor &source) {
  if (place.device)
    return launchMove(*place.copy, source, std::nullopt, target);
  PlanStep step;
  step.kind = PlanStep::Kind::Copy;
  step.tensors = {target, source};
  plan->steps.push_back(std::move(step));
  return true;
}

/// A device is given integers of the element's width, two where it is wider
/// than any: so every bit comes there.
bool OpTracer::fill(const PlanTensor &target, const std::uint64_t (&bits)[2]) {
  if (!place.device) {
    PlanStep step;
    step.kind = PlanStep::Kind::Fill;
    step.tensors = {target};
    std::copy_n(bits, 2, step.bits);
    plan->steps.push_back(std::move(step));
    return true;
  }
  constexpr std::size_t widest = sizeof(std::int64_t);
  std::size_t bytes = bytesOf(target.type);
  PlanTensor words = target;
  words.type = bytes == 1   ? ElementType::I8
               : bytes == 2 ? ElementType::I16
               : bytes == 4 ? ElementType::I32
                            : ElementType::I64;
  unsigned parts = bytes > widest ? 2 : 1;
  for (std::int64_t &stride : words.strides)
    stride *= parts;
  for (unsigned part = 0; part < parts; ++part) {
    unsigned width = 8 * static_cast<unsigned>(std::min(bytes, widest));
    if (!launchMove(*place.fill, words, llvm::SignExtend64(bits[part], width),
                    words))
      return false;
    words.offset += widest;
  }
  return true;
}
