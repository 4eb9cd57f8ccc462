// What of a thread's registers a launch takes, and leaves to keep rows in.
#pragma once

#include "dsl/schedule/Schedule.h"

#include "llvm/ADT/SetVector.h"

namespace quern {

/// Elements of a row: fewer are not worth keeping, more would be much code.
inline constexpr unsigned leastKept = 8, mostKept = 32;

/// What the stores of a launch are made of, but for what is made before it.
struct RowNeeds {
  llvm::SmallVector<qn::ReduceOp> reductions;
  llvm::SmallSetVector<mlir::Value, 8> operands;
};
RowNeeds needsOf(const KernelModel &model, const LaunchPlan &launch);

/// Registers of the state of one lane.
unsigned stateWords(qn::ReduceOp op);
/// Registers that an element of all rows takes; 0 where there are none, or too
/// many of them.
unsigned rowWords(const KernelModel &model, const LaunchPlan &launch,
                  const RowNeeds &needs);
/// What there is to keep rows in for a later pass.
struct RowRoom {
  /// Elements of its rows that a thread has registers for; 0 where there is
  /// only one pass, or too much to keep.
  unsigned kept = 0;
  /// And one that needs 64 registers at most in all; 0: that is not enough.
  unsigned light = 0;
  /// Whether there are operands along its rows that all of them share.
  bool hasShared = false;
  /// That an element of all rows takes in shared memory; 0: rows are not kept
  /// there.
  unsigned bytes = 0;
};
RowRoom roomFor(const KernelModel &model, const LaunchPlan &launch,
                const RowNeeds &needs);

/// The operands whose rows a launch reads.
llvm::SmallVector<mlir::Value> rowsOf(const KernelModel &model,
                                      const LaunchPlan &launch,
                                      const RowNeeds &needs);

} // namespace quern
