// A kernel that cannot be made when it is to run: its nodes through ATen.
#include "backend-torch/plan/Calls.h"
#include "backend-torch/run/Executor.h"
#include "backend-torch/run/Raise.h"
#include "backend-torch/run/Stable.h"

#include <ATen/ATen.h>

namespace quern {

/// The calls in the place of a kernel, made once and told of once.
const std::vector<Step> &
Executor::callsInPlace(int kernel, const std::string &reason) const {
  const std::vector<Step> *calls = nullptr;
  {
    std::lock_guard lock(apartMutex);
    auto it = apart.find(kernel);
    if (it != apart.end())
      return it->second;
    it = apart
             .emplace(kernel, callsOf(*compiled.fusion,
                                      compiled.fusion->groups[kernel]))
             .first;
    calls = &it->second;
  }
  // A warning takes the interpreter's lock, whose holder may be forking.
  for (const Step &call : *calls)
    if (!call.isView)
      warnThroughTorch("`" + launchPlan.graph->nodes[call.node].overload +
                       "` runs through ATen: " + reason);
  return *calls;
}

/// Into a part of a concatenation, which begins `offset` elements into it.
static void copyIntoPlace(const at::Tensor &whole, const at::Tensor &part,
                          std::int64_t offset) {
  at::Tensor place = whole.as_strided(part.sizes(), whole.strides(),
                                      whole.storage_offset() + offset);
  place.copy_(part);
}

void Executor::runApart(const Step &step, const std::string &reason,
                        Frame &frame) const {
  const Group &group = compiled.fusion->groups[step.kernel];
  if (options.strict || group.part >= 0)
    raise(reason);
  const std::vector<Step> &calls = callsInPlace(step.kernel, reason);
  Frame own = frame;
  for (const Step &call : calls) {
    const std::string &overload = launchPlan.graph->nodes[call.node].overload;
    std::vector<c10::IValue> stack = stackFor(call, own);
    if (options.trace)
      options.trace("aten " + overload + " in the place of " +
                    compiled.kernels[step.kernel]->operands().declaration);
    callOperator(call, stack);
    storeResults(call, std::move(stack), own);
    if (!call.isView)
      counts->addFallback(overload);
  }
  const GroupKernel &kernel = compiled.kernels[step.kernel]->operands();
  for (const KernelOperand &output : kernel.outputs) {
    c10::IValue &made = own.slots[output.value];
    if (!group.placed.contains(output.value)) {
      frame.slots[output.value] = std::move(made);
      continue;
    }
    const SizeTable &sizes = *compiled.fusion->sizes;
    copyIntoPlace(frame.slots[output.base].toTensor(), made.toTensor(),
                  sizes.evaluate(output.offset, frame.symbols).asInt());
  }
  ++counts->unlaunched;
  report(step, frame, nullptr, 0);
}

} // namespace quern
