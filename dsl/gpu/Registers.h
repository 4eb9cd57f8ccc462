// What of a thread's registers a launch takes, and leaves to keep rows in.
#pragma once

#include "dsl/schedule/Schedule.h"

#include "llvm/ADT/SetVector.h"

namespace quern {

/// Elements of a row: fewer are not worth keeping.
inline constexpr unsigned leastKept = 8;

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
/// How many elements of its rows a thread may keep for a later pass: 0 where
/// there is only one pass, or too much to keep.
unsigned keptBy(const KernelModel &model, const LaunchPlan &launch,
                const RowNeeds &needs);

} // namespace quern
