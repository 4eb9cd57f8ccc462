// A step's work itself, seen by profilers, observers and error messages.
#include "backend-torch/run/Executor.h"
#include "backend-torch/run/Raise.h"
#include "backend-torch/run/Threads.h"

#include <ATen/record_function.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <unordered_set>

namespace quern {

/// The nodes of a launch; only those of one library file where some are.
static std::vector<const Node *> nodesOf(const FusionPlan &fusion, int group,
                                         std::string_view message) {
  std::vector<const Node *> all, named;
  for (int index : fusion.groups[group].draft.nodes()) {
    const Node *node = &fusion.graph->nodes[index];
    all.push_back(node);
    auto *call = std::get_if<LibraryCall>(&fusion.analysis->operations[index]);
    if (call && message.starts_with(call->row->file + ":"))
      named.push_back(node);
  }
  return named.empty() ? all : named;
}

/// "`aten::gather` (model.py:12), …", each once.
static std::string list(const std::vector<const Node *> &nodes) {
  std::vector<std::string> parts;
  for (const Node *node : nodes) {
    std::string part = "`" + node->overload + "`";
    if (!node->source.empty())
      part += " (" + node->source + ")";
    if (std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
  }
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// The user's lines of a launch, the last first, at most three.
static std::string linesOf(const FusionPlan &fusion, int group) {
  std::vector<std::string> lines;
  std::vector<const Node *> nodes = nodesOf(fusion, group, "");
  for (auto it = nodes.rbegin(); it != nodes.rend() && lines.size() < 3; ++it)
    if (!(*it)->source.empty() &&
        std::find(lines.begin(), lines.end(), (*it)->source) == lines.end())
      lines.push_back((*it)->source);
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? " [" : ", ") + line;
  return text.empty() ? "" : text + "]";
}

/// Tells a profiler that is on of a launch, for as long as it lives.
class LaunchRecord {
public:
  LaunchRecord(const FusionPlan &fusion, const Step &step,
               const GroupKernel &kernel, const Frame &frame) {
    auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION);
    if (!callbacks)
      return;
    record.emplace(std::move(*callbacks));
    if (record->needsInputs())
      for (const KernelOperand &input : kernel.inputs)
        inputs.push_back(frame.slots[input.base]);
    record->before(
        "quern::" + kernel.declaration + linesOf(fusion, step.kernel), &inputs);
  }

private:
  std::vector<c10::IValue> inputs; ///< which the record looks at to its end
  std::optional<at::RecordFunction> record;
};

void Executor::report(const Step &step, const Frame &frame,
                      const BoundShape *shape, std::int64_t nanoseconds) const {
  if (options.observe)
    options.observe(
        {.number = static_cast<int>(&step - launchPlan.steps.data()),
         .step = step,
         .frame = frame,
         .shape = shape,
         .nanoseconds = nanoseconds});
}

std::map<std::string, std::vector<StageText>> Executor::stages() const {
  std::map<std::string, std::vector<StageText>> result;
  for (const auto &kernel : compiled.kernels) {
    const std::string &name = kernel->operands().declaration;
    if (result.contains(name))
      continue;
    const SizeTable &sizes = *compiled.fusion->sizes;
    BoundShape shape = shapeOf(kernel->operands(), sizes, sizes.hints());
    Result<std::shared_ptr<LaunchHandle>> handle = kernel->handle(shape);
    if (!handle)
      raise(handle.error().message);
    Result<std::vector<StageText>> stages = (*handle)->stages();
    if (!stages)
      raise(stages.error().message);
    result[name] = std::move(*stages);
  }
  return result;
}

void Executor::waitForDevices() const {
  std::unordered_set<c10::Device> devices;
  for (const auto &kernel : compiled.kernels)
    devices.insert(torchDevice(kernel->operands().device));
  for (c10::Device device : devices)
    if (!device.is_cpu())
      c10::impl::VirtualGuardImpl(device.type())
          .synchronizeDevice(device.index());
}

std::int64_t
Executor::taken(std::chrono::steady_clock::time_point since) const {
  if (!options.observe)
    return 0;
  waitForDevices();
  return static_cast<std::int64_t>(lap(since) * 1e9);
}

/// The stream that torch works in now, as the driver knows it.
static void *currentStream(c10::Device device) {
  if (device.is_cpu())
    return nullptr;
  return c10::impl::VirtualGuardImpl(device.type())
      .getStream(device)
      .native_handle();
}

bool Executor::launch(const Step &step, const LaunchShape &launch,
                      std::span<void *const> pointers, const Frame &frame,
                      std::string &refusal) const {
  const GroupKernel &operands = compiled.kernels[step.kernel]->operands();
  std::chrono::steady_clock::time_point clock;
  Result<std::monostate> made = awaitCode(*launch.handle);
  if (made && options.observe)
    made = launch.handle->ready();
  if (!made) {
    refusal = made.error().message;
    return false;
  }
  if (options.observe) {
    waitForDevices();
    clock = std::chrono::steady_clock::now();
  }
  Result<std::monostate> done = std::monostate();
  {
    LaunchRecord record(*compiled.fusion, step, operands, frame);
    done = launch.handle->run(pointers, currentStream(launch.device));
  }
  if (!done) {
    const std::string &message = done.error().message;
    if (Result<std::monostate> ready = launch.handle->ready(); !ready) {
      refusal = ready.error().message;
      return false;
    }
    raiseLaunch(done.error(),
                "`" + operands.declaration + "` for " +
                    list(nodesOf(*compiled.fusion, step.kernel, message)));
  }
  report(step, frame, &launch.shape, taken(clock));
  return true;
}

std::int64_t Executor::callOperator(const Step &step,
                                    std::vector<c10::IValue> &stack) const {
  std::chrono::steady_clock::time_point clock;
  if (options.observe || !step.isView)
    clock = std::chrono::steady_clock::now();
  if (step.call.isAllocation())
    return 0;
  if (step.call.host >= 0) {
    options.hostCall(step.call.host, stack);
    return taken(clock);
  }
  try {
    step.call.op->callBoxed(&stack);
  } catch (...) {
    raiseStep(list({&launchPlan.graph->nodes[step.node]}));
  }
  if (!step.isView)
    noteOperator(clock);
  return taken(clock);
}

} // namespace quern
