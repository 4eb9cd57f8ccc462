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
};

/// One launch: stores that share their parallel axes.
struct LaunchPlan {
  llvm::SmallVector<qn::StoreOp> stores;
  qn::ScatterOp scatter; ///< alone in its launch, behind the stores
  AxisSet parallel = 0;
  /// The parallel axes, outermost first; a tiled one comes last.
  llvm::SmallVector<AxisPlan> axes;
  int lane = -1; ///< the axis that suits lanes best, parallel or not
  /// Elements that are worth a task of their own.
  std::int64_t taskElements = 1;
};

class Schedule {
public:
  Schedule(const KernelModel &model, const TargetInfo &target);

  llvm::SmallVector<LaunchPlan> launches;

  /// The axis among `candidates` the lanes of a loop run along, or -1: one
  /// along which neighbouring elements lie, or the best of the whole launch.
  int laneAxis(AxisSet candidates, const LaunchPlan &launch) const;
  /// How a loop over `axis` inside a unit is walked when lanes run along it.
  AxisPlan laneLoop(unsigned axis, bool reduces) const;

private:
  void findLanes();
  void countAccesses();
  void findUneven();
  void formLaunches();
  int bestAxis(AxisSet candidates) const;
  void planScatter(LaunchPlan &launch);
  void planAxes(LaunchPlan &launch);

  const KernelModel &model;
  const TargetInfo &target;
  unsigned lanes = 1;
  unsigned operations = 0; ///< arithmetic operations in the whole kernel
  llvm::SmallVector<int> scores;
  AxisSet uneven = 0; ///< axes the bounds of a local axis depend on
};

} // namespace quern
