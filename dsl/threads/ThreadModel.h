// What the lowering of a kernel's threads decides beforehand: lanes, stages
// between barriers, which values differ between threads, which outlive a stage.
#pragma once

#include "dsl/dialect/Dialect.h"
#include "dsl/target/TargetInfo.h"
#include "dsl/threads/Ranges.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace quern {

/// Between which threads of a block a value may differ: bits.
enum Variance : std::uint8_t {
  nowhere = 0,
  acrossRows = 1, ///< between vectors of threads
  acrossLanes = 2 ///< between the lanes of a vector
};

class ThreadModel {
public:
  ThreadModel(qn::KernelOp kernel, const TargetInfo &target);

  mutable qn::KernelOp kernel; ///< MLIR knows no const operations
  /// Threads of a block along x, y, z, where they are known.
  std::array<std::optional<std::int64_t>, 3> block;
  unsigned lanes = 1;
  /// Lanes run along the linear number of a thread, not along x.
  bool isLinear = false;
  Ranges ranges;

  /// All threads of the block wait in it.
  bool waits(mlir::Operation *op) const { return waiting.contains(op); }
  std::uint8_t variance(mlir::Value value) const {
    return variances.lookup(value);
  }
  bool differs(mlir::Value value) const { return variance(value) != nowhere; }
  bool hasLanes(mlir::Value value) const {
    return variance(value) & acrossLanes;
  }
  /// A pure operation on what all threads of the block share: made once.
  bool isShared(mlir::Operation *op) const;
  /// Kept in memory, one value for each thread, until a later stage.
  bool isKept(mlir::Value value) const { return kept.contains(value); }
  /// An array that a later stage may read needs memory for every thread.
  bool outlives(mlir::Operation *array) const { return crosses(array); }
  /// What the value is in one thread, where that is known now.
  std::optional<std::int64_t>
  evaluate(mlir::Value value, std::array<std::int64_t, 3> thread) const;

  /// What decides about the barriers in `at` is refused where two threads of a
  /// block disagree whatever the arguments are.
  bool checkDivided(mlir::Value value, mlir::Operation *at) const;

private:
  bool isProvablyDivided(mlir::Value value) const;
  void findGeometry(const TargetInfo &target);
  void findWaiting();
  void findDoubtful();
  void findSpread();
  bool isWorthSpreading(mlir::Operation *loop) const;
  void findStages(mlir::Block &block);
  void findVariances();
  bool visit(mlir::Operation *op);
  bool raise(mlir::Value value, std::uint8_t to);
  bool visitLoop(mlir::Operation *op);
  bool visitWhile(mlir::Operation *op);
  std::uint8_t ownVariance(mlir::Operation *op) const;
  void findKept();
  bool crosses(mlir::Operation *op) const;
  bool isAway(mlir::Operation *definer, mlir::Operation *user) const;
  mlir::Operation *stagedAncestor(mlir::Operation *op) const;
  unsigned costOfRemaking(mlir::Value value, unsigned depth) const;

  llvm::DenseSet<mlir::Operation *> waiting;
  llvm::DenseMap<mlir::Operation *, unsigned> stages;
  unsigned stage = 0;
  llvm::DenseMap<mlir::Value, std::uint8_t> variances;
  llvm::DenseSet<mlir::Value> kept;
};

} // namespace quern
