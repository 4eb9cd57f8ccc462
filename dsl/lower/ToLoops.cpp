// A kernel of the qn dialect becomes functions made of loops.
#include "dsl/lower/ToLoops.h"

#include "dsl/gpu/Entry.h"

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

/// The entries of one launch on a GPU.
static LaunchEntry gpuLaunch(const KernelModel &model, const Schedule &schedule,
                             const LaunchPlan &launch, const TargetInfo &target,
                             const Packet &packet, Emitter &emitter,
                             OpBuilder &builder, StringRef stem) {
  auto module = model.kernel->getParentOfType<ModuleOp>();
  LaunchEntry made;
  for (const EntryPlan &plan : planEntries(model, launch, target)) {
    EntryBuilder entry(model, schedule, plan, target, packet, emitter, builder);
    made.grids.push_back(entry.build(module, (stem + suffix(plan)).str()));
    entry.describeWorkspace(made);
  }
  return made;
}

std::optional<KernelAbi> quern::lowerToLoops(qn::RowwiseOp kernel,
                                             const TargetInfo &target) {
  if (target.isGpu())
    splitJoined(kernel);
  KernelModel model(kernel);
  if (!model.valid)
    return std::nullopt;
  Schedule schedule(model, target);
  Packet packet(kernel);
  KernelAbi abi;
  abi.words = packet.words;
  OpBuilder builder(kernel.getContext());
  auto module = kernel->getParentOfType<ModuleOp>();
  Emitter emitter(model, schedule, target, packet, abi.sites, builder);
  std::string name = kernel.getSymName().str();
  for (auto [number, launch] : llvm::enumerate(schedule.launches)) {
    std::string stem = number ? name + "_" + std::to_string(number) : name;
    if (target.isGpu()) {
      abi.launches.push_back(gpuLaunch(model, schedule, launch, target, packet,
                                       emitter, builder, stem));
      if (!emitter.valid)
        return std::nullopt;
      continue;
    }
    LaunchBuilder launchBuilder(model, schedule, launch, target, packet,
                                emitter, builder);
    abi.launches.push_back({stem + "_plan", stem + "_task"});
    launchBuilder.buildPlan(module, abi.launches.back().plan);
    launchBuilder.buildTask(module, abi.launches.back().task);
    if (!emitter.valid)
      return std::nullopt;
  }
  kernel.erase();
  return abi;
}
