// Which axis the lanes of a loop run along, and how much of it is unrolled.
#pragma once

#include "dsl/cost/Parameters.h"
#include "dsl/schedule/LaunchPlan.h"

namespace quern {

/// What a kernel's reads and arithmetic say about its loops.
class LoopChoice {
public:
  LoopChoice(const KernelModel &model, const TargetInfo &target);

  /// Whether masks cost less than a body that is made twice, of which there are
  /// `copies` already.
  bool isLong(unsigned copies) const {
    return bodyLength * copies > cost::longBody;
  }

  /// How loops inside units walk over the axes, the best for lanes first. Axes
  /// along which no neighbouring elements lie, and uneven ones, are unsuited.
  llvm::SmallVector<InnerLoop> innerLoops() const;
  /// The most copies that make no long body.
  std::optional<std::uint64_t> maskedAbove() const;
  unsigned operationsAlong(unsigned axis, AxisSet still = {}) const;
  bool mergeDivides(unsigned axis) const;
  /// How a loop over `axis` inside a unit is walked when lanes run along it.
  AxisPlan laneLoop(unsigned axis, bool reduces) const;

  /// How the first reductions of short rows side by side read them.
  RowOrder orderOfRows(const LaunchPlan &launch) const;

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
};

} // namespace quern
