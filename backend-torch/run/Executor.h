// Walks through a LaunchPlan: one native call a graph.
#pragma once

#include "backend-torch/compiled/GraphCompiler.h"
#include "backend-torch/plan/Arguments.h"
#include "backend-torch/run/Memory.h"
#include "backend-torch/run/TorchDevices.h"

#include <atomic>
#include <functional>
#include <map>

namespace quern {

/// What happened since the counters were reset.
struct RunCounters {
  std::int64_t graphs = 0;   ///< graphs compiled
  std::int64_t calls = 0;    ///< calls of compiled graphs
  std::int64_t launches = 0; ///< launches of own kernels
  /// ATen calls by operator, by the reason: no kernel, faster, random numbers.
  std::map<std::string, std::int64_t> fallbacks, preferred, random;
};

/// How often one graph was called, and what each of its calls does.
struct GraphCounts {
  RunCounters perCall;
  std::atomic<std::int64_t> calls = 0;
  /// Launches that did not come about, since the kernel could not be made.
  std::atomic<std::int64_t> unlaunched = 0;

  void addFallback(const std::string &overload);
  /// Calls in the place of such launches, by operator.
  std::map<std::string, std::int64_t> fallbacks() const;
  void reset();

private:
  mutable BriefMutex mutex;
  std::map<std::string, std::int64_t> inPlace;
};

/// Adds up over all graphs when it is asked, so that a call costs one
/// increment.
class Recorder {
public:
  std::shared_ptr<GraphCounts> add(RunCounters perCall);
  RunCounters read() const;
  void reset();

private:
  mutable BriefMutex mutex;
  std::int64_t graphsBefore = 0; ///< when the counters were reset
  std::vector<std::shared_ptr<GraphCounts>> graphs;
};

/// Calls back into Python for a Host node.
using HostCall =
    std::function<void(int callable, std::vector<c10::IValue> &stack)>;
/// Told of every step where the user asked for it.
using Trace = std::function<void(const std::string &line)>;

/// What a step did, for those who compare, record or take times.
struct StepReport {
  int number = 0; ///< of the step in the plan
  const Step &step;
  const Frame &frame;                ///< with the step's operands and results
  const BoundShape *shape = nullptr; ///< of a launch
  std::int64_t nanoseconds = 0;
};
using Observe = std::function<void(const StepReport &report)>;

/// A tensor that others make, as the kernels that read it were made for it.
struct ExpectedTensor {
  c10::SmallVector<std::int64_t, 6> sizes, strides;
  at::ScalarType type = at::kFloat;
  std::optional<c10::Device> device; ///< none: one where no kernel can run
  std::size_t bytes = 0; ///< from its first element to the end of its last
};

/// A number that a caller or an operator brings.
SizeValue numberOf(const c10::IValue &value);

struct ExecutorOptions {
  /// Where large tensors lie; null: a memory of the executor's own.
  std::shared_ptr<Memory> memory;
  HostCall hostCall;
  Trace trace;
  Observe observe;
  /// Asked between steps; may be null.
  std::shared_ptr<CodeWaiter> user;
  bool strict = false; ///< a kernel that cannot be made is an error
};

/// Thread-safe: every call has a frame of its own.
class Executor {
public:
  Executor(CompiledProgram compiled, std::vector<c10::IValue> constants,
           Recorder &recorder, ExecutorOptions options);
  ~Executor() { options.memory->trim(); }

  /// Arguments or outputs; on the stack where they are few.
  using Values = c10::SmallVector<c10::IValue, 8>;
  /// Makes the code of all kernels, unless it is there.
  void makeCode() const;
  /// Takes the arguments of the graph and gives its outputs.
  Values run(Values &&arguments) const;
  /// Whether a call is a few microseconds of own kernels whose code is there,
  /// so that letting others run meanwhile would cost more than it does.
  bool isBrief() const { return mayBeBrief && hasRun; }
  /// Whether no call has come to its end yet.
  bool isFresh() const { return !hasRun; }

  const LaunchPlan &plan() const { return launchPlan; }
  const StageTimes &times() const { return compiled.times; }
  const Program &program() const { return compiled.program; }
  /// Every stage of each distinct kernel, for the sizes that were traced.
  std::map<std::string, std::vector<StageText>> stages() const;

private:
  /// What a launch needs besides pointers; fixed where no size is symbolic.
  struct LaunchShape {
    BoundShape shape;
    struct Place {
      ValueId slot = -1;
      std::int64_t offset = 0; ///< into the slot's tensor, in bytes
    };
    std::vector<Place> inputs;
    struct Output {
      Place place;
      bool isPart = false; ///< of a tensor that may be there already
      at::ScalarType type = at::kFloat;
      c10::Device device = at::kCPU;
      std::vector<std::int64_t> sizes, strides; ///< of the whole tensor
      std::size_t bytes = 0;
      /// The input whose memory it takes where nobody else has it, -1: none.
      int takes = -1;
    };
    std::vector<Output> outputs;
    c10::Device device = at::kCPU;
    bool isEmpty = false;                 ///< no output has an element
    std::shared_ptr<LaunchHandle> handle; ///< null where isEmpty or refused
    std::string refusal;                  ///< why the kernel cannot be bound
  };
  LaunchShape launchShape(int kernel, std::span<const SizeValue> symbols) const;
  LaunchShape::Output outputOf(const KernelOperand &operand,
                               const BoundShape::Tensor &bound,
                               std::span<const SizeValue> symbols) const;
  ExpectedTensor expectedOf(ValueId id,
                            std::span<const SizeValue> symbols) const;
  void checkArgument(ValueId id, const c10::IValue &value,
                     const ExpectedTensor &expected) const;
  void checkResult(const Step &step, const StepResult &result,
                   const c10::IValue &value, const Frame &frame) const;
  void checkAxis(const SymbolBinding &binding, const c10::IValue &value) const;
  [[noreturn]] void raiseCount(const Step &step, std::size_t count) const;
  void checkNumber(ValueId id, const c10::IValue &value,
                   const Frame &frame) const;
  void checkAssumptions(std::span<const int> indices, const Frame &frame) const;
  void checkConstants() const;
  void checkWindow(const Step &step, const LaunchShape &launch,
                   std::size_t input, const Frame &frame) const;
  void findTaken(int kernel, LaunchShape &launch) const;
  at::Tensor memoryFor(const LaunchShape &launch,
                       const LaunchShape::Output &output,
                       const Frame &frame) const;
  void checkInputs(Frame &frame) const;
  void runKernel(const Step &step, Frame &frame) const;
  /// False, with the reason, where its code cannot be made.
  bool launch(const Step &step, const LaunchShape &launch,
              std::span<void *const> pointers, const Frame &frame,
              std::string &refusal) const;
  const std::vector<Step> &callsInPlace(int kernel,
                                        const std::string &reason) const;
  void runApart(const Step &step, const std::string &reason,
                Frame &frame) const;
  void runCall(const Step &step, Frame &frame) const;
  void heedUser(const Step &step, int &launches) const;
  Progress heedWhileWaiting() const;
  Result<std::monostate> awaitCode(LaunchHandle &handle) const;
  std::vector<c10::IValue> stackFor(const Step &step, const Frame &frame) const;
  /// A tensor as it was traced, with nothing in it yet.
  at::Tensor emptyFor(ValueId id, const Frame &frame) const;
  at::Tensor withStrides(const at::Tensor &tensor,
                         at::IntArrayRef strides) const;
  /// Gives the time it took in nanoseconds.
  std::int64_t callOperator(const Step &step,
                            std::vector<c10::IValue> &stack) const;
  /// A GPU only begins what a call asks of it: who takes times waits for it.
  void waitForDevices() const;
  /// Nanoseconds, where somebody observes.
  std::int64_t taken(std::chrono::steady_clock::time_point since) const;
  void report(const Step &step, const Frame &frame, const BoundShape *shape,
              std::int64_t nanoseconds) const;
  void storeResults(const Step &step, std::vector<c10::IValue> stack,
                    Frame &frame) const;
  /// One result as the steps after it want it.
  void settle(const Step &step, const StepResult &result, c10::IValue &value,
              const Frame &frame) const;
  void bindSymbols(const std::vector<SymbolBinding> &bindings,
                   Frame &frame) const;
  void fillFrame(Values &&arguments, Frame &frame) const;
  bool areFewElements() const;

  CompiledProgram compiled;
  LaunchPlan launchPlan;
  std::vector<ValueId> inputSlots;
  std::vector<LaunchShape> fixedShapes; ///< by kernel; empty where symbolic
  /// The inputs that kernels read, then those that they write; empty where
  /// symbolic.
  std::vector<ExpectedTensor> fixedInputs;
  std::vector<std::pair<ValueId, c10::IValue>> constants;
  std::vector<ArgumentTemplate> outputs;
  ExecutorOptions options;
  std::shared_ptr<GraphCounts> counts;
  bool mayBeBrief = false;
  mutable std::atomic<bool> hasRun = false; ///< once, to its end
  mutable BriefMutex apartMutex;
  mutable std::map<int, std::vector<Step>> apart; ///< by kernel
};

} // namespace quern
