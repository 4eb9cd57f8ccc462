// Which axis the lanes of a loop run along, and how much of it is unrolled.
#pragma once

#include "dsl/cost/Parameters.h"
#include "dsl/schedule/LaunchPlan.h"

namespace quern {

/// The order in which the vectors of rows side by side are read.
enum class RowOrder : std::uint8_t {
  InTurns, ///< one of every row, then the next of every row
  Masked,  ///< row after row, each by one masked loop
  Whole    ///< row after row, whole vectors and then the rest
};

/// What a kernel's reads and arithmetic say about its loops.
class LoopChoice {
public:
  LoopChoice(const KernelModel &model, const TargetInfo &target);

  /// Whether masks cost less than a body that is made twice, of which there are
  /// `copies` already.
  bool isLong(unsigned copies) const {
    return bodyLength * copies > cost::longBody;
  }

  /// Whether the bounds of a local axis depend on the position along `axis`.
  bool isUneven(unsigned axis) const { return hasAxis(uneven, axis); }

  /// The axis among `candidates` the lanes of a loop run along, or -1: one
  /// along which neighbouring elements lie, or the best of the whole launch.
  int laneAxis(AxisSet candidates, const LaunchPlan &launch) const;
  unsigned operationsAlong(unsigned axis, AxisSet still = {}) const;
  bool mergeDivides(unsigned axis) const;
  /// How a loop over `axis` inside a unit is walked when lanes run along it.
  AxisPlan laneLoop(unsigned axis, bool reduces,
                    const LaunchPlan *launch = nullptr) const;

  /// How reductions that share a loop walk over short rows side by side.
  RowOrder orderOfRows(llvm::ArrayRef<qn::ReduceOp> members,
                       const LaunchPlan &launch) const;

  /// How a portable reduction walks over its last axis: with as many lanes on
  /// every target, so that its tree depends on the extent alone.
  static AxisPlan portableLoop(unsigned axis) {
    AxisPlan plan;
    plan.axis = axis;
    plan.lanes = 64;
    plan.fixed = true;
    return plan;
  }

protected:
  int bestAxis(AxisSet candidates) const;

  const KernelModel &model;
  const TargetInfo &target;
  unsigned lanes = 1;
  unsigned operations = 0; ///< arithmetic operations in the whole kernel
  unsigned bodyLength = 0; ///< those, and fused or elementary ones
  llvm::SmallVector<int> scores;
  AxisSet uneven; ///< axes the bounds of a local axis depend on

private:
  void findLanes();
  void countAccesses();
  void countPlaces(qn::LoadOp load);
  void findUneven();
};

} // namespace quern
