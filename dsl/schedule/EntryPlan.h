// One of the ways in which a GPU may run a launch.
#pragma once

#include "dsl/schedule/LaunchPlan.h"

namespace quern {

/// Elements along each axis of a square that is turned.
inline constexpr std::int64_t turnedSide = 32;

/// `result[batch…, row, column] = sum(left * right over depth)`: `left` has no
/// column, `right` no row.
struct MatrixProduct {
  qn::ReduceOp sum;
  mlir::Value left, right; ///< the factors before they were widened
  /// The factors are as wide as the sum, and no matrix instruction takes them
  /// unrounded: each lane multiplies what it reads.
  bool byLanes = false;
  unsigned row = 0, column = 0, depth = 0;
  /// A factor that is an operand with neighbours along the depth, or along its
  /// other axis.
  struct Side {
    mlir::BlockArgument operand;
    bool alongDepth = false;
  };
  Side leftSide = {}, rightSide = {};
  bool isPlain() const { return leftSide.operand && rightSide.operand; }
  mlir::Type sumType() const { return sum->getResult(0).getType(); }
  unsigned elementBytes() const {
    return left.getType().getIntOrFloatBitWidth() / 8;
  }
};

/// A launch with the axes of a team instead of a task's. A cluster is blocks
/// that read each other's shared memory.
struct EntryPlan {
  TeamKind team = TeamKind::Thread;
  unsigned threads = 128;  ///< of a block
  unsigned vectors = 1;    ///< elements of 16 bytes, where addresses allow it
  unsigned copies = 1;     ///< vectors under way at once
  bool isFull = false;     ///< a turn leaves registers for no second one
  bool sharesRows = false; ///< there are operands that all kept rows share
  std::int64_t mostLanes = -1;
  unsigned rows = 1;     ///< that a thread of columns adds at once
  unsigned resident = 0; ///< blocks of a multiprocessor at most; 0: any number
  unsigned together = 1; ///< blocks of which a multiprocessor has room for rows
  unsigned kept = 0;     ///< elements of a row that a thread keeps; 0: none
  std::int64_t sharedLanes = 0; ///< and a block keeps behind them
  unsigned cluster = 1;         ///< blocks of a team
  LaunchPlan launch;
  std::optional<MatrixProduct> product = {}; ///< made of matrix instructions
  bool staged = false;  ///< its tiles go through shared memory
  bool isLarge = false; ///< so large that a multiprocessor holds one of them
  std::int64_t lineBytes = 64; ///< of a line of its tiles along the depth
  std::int64_t stages = 3;     ///< of tiles; copies run so many ahead, less one
  std::int64_t bandTiles = 1;  ///< of the last axis but one, made together
  std::int64_t leastUnits = 0; ///< from which on it is meant
  std::int64_t leastSide = 0;  ///< rows, and columns, of a product likewise
  bool turns = false; ///< squares of turned operands go through shared memory
  bool byColumns = false; ///< threads have columns, and go along the rows

  unsigned teamSize(unsigned warp) const {
    return team == TeamKind::Thread ? 1
           : team == TeamKind::Warp ? warp
                                    : threads * cluster;
  }
  /// Blocks that are one for each row.
  bool isKeptByBlocks() const { return kept && team >= TeamKind::Block; }
  /// Its blocks have as many threads as the row asks for, `threads` at most.
  bool isSized() const { return isKeptByBlocks() && !sharedLanes; }
};

/// In the order of their largest extents.
std::vector<EntryPlan> planEntries(const KernelModel &model,
                                   const LaunchPlan &launch,
                                   const TargetInfo &target);

} // namespace quern
