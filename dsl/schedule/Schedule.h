// The launches of a kernel on a target, as `qn.schedule` writes them.
#pragma once

#include "dsl/schedule/LoopChoice.h"
#include "dsl/schedule/StagedSlots.h"

#include "llvm/ADT/MapVector.h"

namespace quern {

struct Schedule {
  llvm::SmallVector<LaunchPlan, 2> launches = {};
  StagedSlots staged = {};
  /// Where results of reductions that tasks share lie in the workspace, in
  /// bytes, in the order of the launches.
  llvm::MapVector<mlir::Value, unsigned> offsets = {};
  /// Where the parts of those reductions begin.
  unsigned partsOffset = 0;
  /// What loops inside a unit are still chosen by.
  std::shared_ptr<const LoopChoice> lanes = {};

  unsigned workspaceOffset(mlir::OpResult result) const {
    return offsets.lookup(result);
  }
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
