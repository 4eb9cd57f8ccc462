// An entry point of a launch on a GPU.
#pragma once

#include "dsl/gpu/Device.h"
#include "dsl/gpu/EntryPlan.h"
#include "dsl/lower/Launch.h"

namespace quern {

class EntryBuilder : LaunchBuilder {
public:
  EntryBuilder(const KernelModel &model, const Schedule &schedule,
               const EntryPlan &plan, const TargetInfo &target,
               const Packet &packet, Emitter &emitter, mlir::OpBuilder &builder)
      : LaunchBuilder(model, schedule, plan.launch, target, packet, emitter,
                      builder),
        plan(plan), device(target, builder) {}

  /// Adds the function to the end of `module` and describes it.
  GridEntry build(mlir::ModuleOp module, llvm::StringRef name);
  /// What the launch needs of the workspace.
  void describeWorkspace(LaunchEntry &entry) const;

private:
  void describeStaged(LaunchEntry &entry) const;
  mlir::Block *entryFunction(mlir::ModuleOp module, llvm::StringRef name);
  Team makeTeam(mlir::Value thread);
  mlir::Value isAligned(Frame &root);
  void version(Frame &root, unsigned vectors);
  mlir::Value fit(mlir::Value value);
  mlir::Value number(std::int64_t value);
  mlir::Value unitCount(Frame &root);
  mlir::Value tileCount(Frame &root, const AxisPlan &axis);
  Emitter::Values positions(Frame &frame, mlir::Value unit);
  void mergeParts(Frame &frame);
  mlir::Type countType() const;

  const EntryPlan &plan;
  Device device;
  Team team;
};

} // namespace quern
