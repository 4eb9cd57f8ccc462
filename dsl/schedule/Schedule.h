// Which axes are split over tasks, which one the lanes run along, how much is
// unrolled: every choice of the lowering, made before code is.
#pragma once

#include "dsl/schedule/KernelModel.h"
#include "dsl/target/TargetInfo.h"

namespace quern {

/// How one axis is walked.
struct AxisPlan {
  unsigned axis = 0;
  unsigned lanes = 1;    ///< elements of one vector
  unsigned copies = 1;   ///< vectors (or scalars) of one unrolled iteration
  std::int64_t tile = 1; ///< elements of one unit, for a parallel axis
  bool shared = false;   ///< the threads of a GPU's team take turns along it
};

/// What a launch does.
enum class LaunchKind : std::uint8_t {
  Stores,   ///< writes operands
  Scatter,  ///< writes one operand at computed places
  Sort,     ///< writes the order of keys along an axis
  Partials, ///< reduces parts of an axis into the workspace
  Merge     ///< merges those parts
};

/// One launch: stores that share their parallel axes, or a step of a reduction
/// that several tasks share.
struct LaunchPlan {
  LaunchKind kind = LaunchKind::Stores;
  /// For Partials and Merge: reductions over the same axes; `axes` holds the
  /// one that is split.
  llvm::SmallVector<qn::ReduceOp> reductions;
  llvm::SmallVector<qn::StoreOp> stores;
  qn::ScatterOp scatter; ///< alone in its launch, behind the stores
  qn::SortOp sort;       ///< alone in its launch, in front of what reads it
  AxisSet parallel = 0;
  /// The parallel axes, outermost first; a tiled one comes last.
  llvm::SmallVector<AxisPlan> axes;
  int lane = -1;     ///< the axis that suits lanes best, parallel or not
  bool dots = false; ///< a tile of rows and columns, lanes along the sum
  /// Results may go past the caches, where they exceed them.
  bool streams = false;
  /// Elements that are worth a task of their own.
  std::int64_t taskElements = 1;
};

class Schedule {
public:
  /// Marks in `model` what launches of their own make.
  Schedule(KernelModel &model, const TargetInfo &target);

  /// Where a materialised result lies in the workspace, in bytes.
  unsigned workspaceOffset(mlir::OpResult result) const {
    return offsets.lookup(result);
  }
  /// Where the parts of a split reduction begin.
  unsigned partsOffset() const { return finals; }

  llvm::SmallVector<LaunchPlan> launches;

  /// The axis among `candidates` the lanes of a loop run along, or -1: one
  /// along which neighbouring elements lie, or the best of the whole launch.
  int laneAxis(AxisSet candidates, const LaunchPlan &launch) const;
  /// How a loop over `axis` inside a unit is walked when lanes run along it.
  AxisPlan laneLoop(unsigned axis, bool reduces,
                    const LaunchPlan *launch = nullptr) const;

private:
  void findLanes();
  void countAccesses();
  void findUneven();
  void splitReductions();
  void splitGroup(llvm::ArrayRef<qn::ReduceOp> members);
  bool isSplit(qn::ReduceOp op) const;
  void stageValues();
  void formLaunches();
  int bestAxis(AxisSet candidates) const;
  bool onlyNeighbours(const LaunchPlan &launch) const;
  int reusedAxis(const LaunchPlan &launch, int lane) const;
  bool planDots(LaunchPlan &launch);
  void planTile(LaunchPlan &launch, unsigned rows, unsigned lane);
  void planScatter(LaunchPlan &launch);
  void planAxes(LaunchPlan &launch);

  KernelModel &model;
  llvm::DenseMap<mlir::Value, unsigned> offsets;
  unsigned finals = 0;
  const TargetInfo &target;
  unsigned lanes = 1;
  unsigned operations = 0; ///< arithmetic operations in the whole kernel
  llvm::SmallVector<int> scores;
  AxisSet uneven = 0; ///< axes the bounds of a local axis depend on
};

} // namespace quern
