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
    mlir::Value blockRow, blockColumn; ///< where the block's tile lies
    mlir::Value warpRow, warpColumn;   ///< and the warp's in it, i32
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
  /// Fragments of a warp's tile, one below the other.
  unsigned rowParts() const { return plan.staged ? 4 : 2; }
  void findWarpTile(Frame &frame, Tile &tile, mlir::Value rows,
                    mlir::Value columns);
  Emitter::Values directSums(Frame &frame, const Tile &tile,
                             Emitter::Values sums);
  // StagedProduct.cpp
  void makeStages(mlir::ModuleOp module, llvm::StringRef name);
  Emitter::Values stagedSums(Frame &frame, const Tile &tile,
                             Emitter::Values sums);
  void copyStage(Frame &body, const Tile &tile, mlir::Value depth,
                 mlir::Value stage);
  void copyChunk(Frame &body, bool isRight, mlir::Value corner,
                 mlir::Value depth, std::int64_t number, mlir::Value stage);
  mlir::Value elementAt(Frame &body, mlir::BlockArgument operand, unsigned axis,
                        mlir::Value row, mlir::Value step);
  void multiplyStage(Frame &body, const Tile &tile, mlir::Value stage,
                     Emitter::Values &sums);
  Emitter::Values stagedFragment(bool isRight, mlir::Value first,
                                 std::int64_t depth, mlir::Value stage);
  mlir::Value chunkPlace(mlir::Value line, mlir::Value number, bool alongDepth);
  mlir::Value inStages(mlir::Value bytes);
  mlir::Value short32(std::int64_t value);
  /// An operation of `arith` on a number and a constant.
  mlir::Value math(llvm::StringRef name, mlir::Value a, std::int64_t other);
  mlir::Type countType() const;

  const EntryPlan &plan;
  Device device;
  Team team;
  std::string stagesName; ///< the memory of staged tiles
};

} // namespace quern
