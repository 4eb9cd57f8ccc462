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
  /// Where a warp's tile lies, and what of it a lane reads.
  struct Tile {
    mlir::Value firstRow, firstColumn;
    mlir::Value group, pair; ///< a lane's row, and twice its place in the row
    Emitter::Values rows, columns;
  };
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
  // Product.cpp
  void product(Frame &frame, mlir::ValueRange position);
  Tile productTile(Frame &frame, mlir::Value rows, mlir::Value columns);
  void productStep(Frame &body, const Tile &tile, mlir::Value depth,
                   mlir::Value end, Emitter::Values &sums);
  mlir::Value fragmentPair(Frame &body, mlir::Value factor, unsigned axis,
                           mlir::Value at, mlir::Value depth, mlir::Value end);
  void storeTile(Frame &frame, const Tile &tile,
                 llvm::ArrayRef<mlir::Value> sums);
  mlir::Type countType() const;

  const EntryPlan &plan;
  Device device;
  Team team;
};

} // namespace quern
