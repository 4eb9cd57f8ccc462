// The launches of a kernel on a target, as `qn.schedule` writes them.
#pragma once

#include "dsl/schedule/EntryPlan.h"
#include "dsl/schedule/StagedSlots.h"

#include "llvm/ADT/MapVector.h"

namespace quern {

struct Schedule {
  llvm::SmallVector<LaunchPlan, 2> launches = {};
  /// The entries of every launch, on a GPU.
  std::vector<std::vector<EntryPlan>> entries = {};
  StagedSlots staged = {};
  /// Where results of reductions that tasks share lie in the workspace, in
  /// bytes, in the order of the launches.
  llvm::MapVector<mlir::Value, unsigned> offsets = {};
  /// Where the parts of those reductions begin.
  unsigned partsOffset = 0;
  /// How loops inside units walk over the axes, the best for lanes first.
  llvm::SmallVector<InnerLoop> inner = {};
  /// Bodies of more vectors are made once, all their iterations masked;
  /// nothing: none is.
  std::optional<std::uint64_t> maskedAbove = {};

  /// What the host computes, until it stands in front of the dispatches.
  std::unique_ptr<mlir::Block> host = {};

  unsigned workspaceOffset(mlir::OpResult result) const {
    return offsets.lookup(result);
  }
  /// Whether masks cost less than a body of so many copies that is made twice.
  bool isLong(unsigned copies) const {
    return maskedAbove && copies > *maskedAbove;
  }
  /// The axis among `candidates` the lanes of a loop run along, or -1.
  int laneAxis(AxisSet candidates, const LaunchPlan &launch) const;
  /// How a loop over `axis` inside a unit is walked, lanes along it.
  AxisPlan innerLoop(unsigned axis, bool reduces) const;
};

/// Adds how the kernel runs on `target` after its last operation; fails with a
/// diagnostic.
mlir::LogicalResult scheduleKernel(qn::RowwiseOp kernel,
                                   const TargetInfo &target);

/// Takes the schedule off the kernel, and marks in `model` what launches of
/// their own make. Nothing, after a diagnostic, where there is none for
/// `target`.
std::optional<Schedule> takeSchedule(KernelModel &model,
                                     const TargetInfo &target);

} // namespace quern
