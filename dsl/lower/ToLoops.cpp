// A kernel of the qn dialect becomes functions made of loops.
#include "dsl/lower/ToLoops.h"

#include "dsl/dialect/CountedOperations.h"
#include "dsl/gpu/Entry.h"
#include "dsl/lower/HostPlan.h"

#include <list>

using namespace mlir;
using namespace quern;

static std::string suffix(const EntryPlan &plan) {
  std::string kept = plan.kept ? std::to_string(plan.kept) : "";
  std::string cluster = "_kept_cluster" + std::to_string(plan.cluster);
  std::string shared = plan.together > 1 ? "_kept_pair" : "_kept_shared";
  switch (plan.team) {
  case TeamKind::Thread:
    return "_thread";
  case TeamKind::Warp:
    return "_warp" + kept;
  case TeamKind::Block:
    return plan.product && plan.product->byLanes ? "_tiles"
           : plan.sharedLanes                    ? shared + kept
           : plan.kept                           ? "_kept" + kept
           : plan.isLarge                        ? "_large"
                                                 : "_block";
  case TeamKind::Cluster:
    return plan.product && plan.product->byLanes ? "_tiles"
           : plan.kept                           ? cluster
                                                 : "_cluster";
  }
  return "";
}

namespace {
/// In place of an entry's number: the code of all.
constexpr int everyEntry = -2;

/// Makes the code of the launches of one form of a kernel.
class KernelLowering {
public:
  KernelLowering(KernelModel &model, Schedule schedule,
                 const TargetInfo &target, KernelAbi &abi)
      : model(model), schedule(std::move(schedule)), target(target),
        packet(model.kernel), abi(abi), counted(*model.kernel.getContext()),
        builder(model.kernel.getContext(), &counted),
        emitter(model, this->schedule, target, packet, abi.sites, builder),
        module(model.kernel->getParentOfType<ModuleOp>()) {
    abi.words = packet.words;
  }

  bool describe();
  /// Makes the code of the launches that `variant` names among those of all
  /// forms.
  bool build(const Variant &variant);

private:
  std::string stemOf(std::size_t number) const {
    std::string name = model.kernel.getSymName().str();
    return number ? name + "_" + std::to_string(number) : name;
  }
  EntryBuilder entryOf(const EntryPlan &plan) {
    return {model, schedule, plan, target, packet, emitter, builder};
  }
  LaunchBuilder functionsOf(const LaunchPlan &launch) {
    return {model, schedule, launch, target, packet, emitter, builder};
  }
  bool describe(std::size_t number, const LaunchPlan &launch);
  std::optional<HostPlan> conditionOf(const LaunchPlan &launch) const;
  void describeEntries(std::size_t number, LaunchEntry &entry);
  bool build(std::size_t number, int chosen);

  const KernelModel &model;
  const Schedule schedule;
  const TargetInfo &target;
  const Packet packet;
  KernelAbi &abi;
  std::size_t first = 0; ///< of its launches among those of all forms
  CountedOperations counted;
  OpBuilder builder;
  Emitter emitter;
  ModuleOp module;
};
} // namespace

/// When a launch runs, as steps over the words of the packet; nothing after a
/// diagnostic.
std::optional<HostPlan>
KernelLowering::conditionOf(const LaunchPlan &launch) const {
  if (!launch.when)
    return HostPlan();
  auto wordOf = [&](Value value) -> std::optional<unsigned> {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return packet.argumentWord(argument.getArgNumber());
    if (auto size = value.getDefiningOp<qn::SizeOp>())
      return packet.extentWord(model.axisOf(size.getAxis()));
    return std::nullopt;
  };
  auto when = HostPlanBuilder(wordOf).build(launch.when);
  if (!when)
    emitError(launch.when.getLoc(), notOfHost);
  return when;
}

/// Says of a launch what decides whether it runs, and by which entry.
bool KernelLowering::describe(std::size_t number, const LaunchPlan &launch) {
  std::optional<HostPlan> when = conditionOf(launch);
  if (!when)
    return false;
  LaunchEntry &made = abi.launches.emplace_back();
  made.when = std::move(*when);
  if (target.isGpu())
    describeEntries(number, made);
  else
    made.task = stemOf(number) + "_task";
  return true;
}

void KernelLowering::describeEntries(std::size_t number, LaunchEntry &made) {
  std::string stem = stemOf(number);
  for (const EntryPlan &plan : schedule.entries[number]) {
    EntryBuilder entry = entryOf(plan);
    made.grids.push_back(entry.describe(stem + suffix(plan)));
    entry.describeWorkspace(made);
  }
}

/// Makes the code of a launch: on a GPU of one entry, or of all if `chosen` is
/// none.
bool KernelLowering::build(std::size_t number, int chosen) {
  LaunchEntry &made = abi.launches[first + number];
  if (!target.isGpu()) {
    LaunchBuilder functions = functionsOf(schedule.launches[number]);
    functions.buildPlan(module, planOf(made.task));
    functions.buildTask(module, made.task);
    return emitter.valid && takePlan(module, made);
  }
  for (auto [entry, plan] : llvm::enumerate(schedule.entries[number]))
    if (chosen == everyEntry || chosen == static_cast<int>(entry))
      made.grids[entry] = entryOf(plan).build(module, made.grids[entry].symbol);
  return emitter.valid;
}

bool KernelLowering::describe() {
  first = abi.launches.size();
  for (auto [number, launch] : llvm::enumerate(schedule.launches))
    if (!describe(number, launch))
      return false;
  return true;
}

bool KernelLowering::build(const Variant &variant) {
  for (std::size_t number = 0; number != schedule.launches.size(); ++number)
    if (int entry = variant[first + number];
        entry != leftOut && !build(number, entry))
      return false;
  return true;
}

/// Whether two forms of a kernel read the same packet.
static bool takesSame(qn::RowwiseOp form, qn::RowwiseOp other) {
  auto operands = [](qn::RowwiseOp kernel) {
    return ValueRange(
        kernel.block().getArguments().take_front(kernel.callerArguments()));
  };
  return form.getAxes() == other.getAxes() &&
         form.getNumbers() == other.getNumbers() &&
         operands(form).getTypes() == operands(other).getTypes();
}

std::optional<KernelAbi> quern::lowerToLoops(ArrayRef<qn::RowwiseOp> forms,
                                             const TargetInfo &target,
                                             const ChooseVariant &choose) {
  KernelAbi abi;
  std::list<KernelModel> models;
  std::list<KernelLowering> lowerings;
  for (qn::RowwiseOp form : forms) {
    KernelModel &model = models.emplace_back(form);
    if (!model.valid)
      return std::nullopt;
    if (!takesSame(form, forms.front())) {
      form.emitOpError("has a form that takes other operands");
      return std::nullopt;
    }
    std::optional<Schedule> schedule = takeSchedule(model, target);
    if (!schedule)
      return std::nullopt;
    lowerings.emplace_back(model, std::move(*schedule), target, abi);
    if (!lowerings.back().describe())
      return std::nullopt;
  }
  Variant variant =
      choose ? choose(abi) : Variant(abi.launches.size(), everyEntry);
  assert(variant.size() == abi.launches.size() && "a choice for each launch");
  for (KernelLowering &form : lowerings)
    if (!form.build(variant))
      return std::nullopt;
  for (qn::RowwiseOp form : forms)
    form.erase();
  return abi;
}

SmallVector<qn::RowwiseOp> quern::formsOf(qn::RowwiseOp kernel) {
  SmallVector<qn::RowwiseOp> forms;
  for (auto other : kernel->getParentRegion()->getOps<qn::RowwiseOp>())
    if (other.getInsteadOf() == kernel.getSymName())
      forms.push_back(other);
  forms.push_back(kernel);
  return forms;
}
