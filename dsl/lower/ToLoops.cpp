// A kernel of the qn dialect becomes functions made of loops.
#include "dsl/lower/ToLoops.h"

#include "dsl/lower/Launch.h"

using namespace mlir;
using namespace quern;

std::optional<KernelAbi> quern::lowerToLoops(qn::RowwiseOp kernel,
                                             const TargetInfo &target) {
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
