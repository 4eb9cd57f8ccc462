// A kernel of the qn dialect becomes functions made of loops.
#include "dsl/lower/ToLoops.h"

#include "dsl/dialect/CountedOperations.h"
#include "dsl/gpu/Entry.h"
#include "dsl/lower/HostPlan.h"

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

/// Makes the code of a kernel's launches.
class KernelLowering {
public:
  KernelLowering(const KernelModel &model, const Schedule &schedule,
                 const TargetInfo &target)
      : model(model), schedule(schedule), target(target), packet(model.kernel),
        counted(*model.kernel.getContext()),
        builder(model.kernel.getContext(), &counted),
        emitter(model, schedule, target, packet, abi.sites, builder),
        module(model.kernel->getParentOfType<ModuleOp>()) {
    abi.words = packet.words;
  }

  std::optional<KernelAbi> run(const ChooseVariant &choose);

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
  void describeEntries(std::size_t number, LaunchEntry &entry);
  bool build(std::size_t number, int chosen);

  const KernelModel &model;
  const Schedule &schedule;
  const TargetInfo &target;
  const Packet packet;
  KernelAbi abi;
  CountedOperations counted;
  OpBuilder builder;
  Emitter emitter;
  ModuleOp module;
};
} // namespace

/// Says of a launch what decides whether it runs, and by which entry.
bool KernelLowering::describe(std::size_t number, const LaunchPlan &launch) {
  LaunchEntry &made = abi.launches.emplace_back();
  if (target.isGpu()) {
    describeEntries(number, made);
    return true;
  }
  made.task = stemOf(number) + "_task";
  if (launch.choice == LaunchChoice::Always)
    return true;
  auto when = readPlan(
      functionsOf(launch).buildCondition(module, conditionOf(made.task)));
  if (when)
    made.when = std::move(*when);
  return when.has_value();
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
  LaunchEntry &made = abi.launches[number];
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

std::optional<KernelAbi> KernelLowering::run(const ChooseVariant &choose) {
  for (auto [number, launch] : llvm::enumerate(schedule.launches))
    if (!describe(number, launch))
      return std::nullopt;
  Variant variant =
      choose ? choose(abi) : Variant(abi.launches.size(), everyEntry);
  for (auto [number, entry] : llvm::enumerate(variant))
    if (entry != leftOut && !build(number, entry))
      return std::nullopt;
  return std::move(abi);
}

std::optional<KernelAbi> quern::lowerToLoops(qn::RowwiseOp kernel,
                                             const TargetInfo &target,
                                             const ChooseVariant &choose) {
  KernelModel model(kernel);
  if (!model.valid)
    return std::nullopt;
  std::optional<Schedule> schedule = takeSchedule(model, target);
  if (!schedule)
    return std::nullopt;
  auto abi = KernelLowering(model, *schedule, target).run(choose);
  if (abi)
    kernel.erase();
  return abi;
}
