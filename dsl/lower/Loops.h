// Loops to be opened, and the reductions that share them.
#pragma once

#include "dsl/lower/Frame.h"
#include "dsl/schedule/Schedule.h"

namespace quern {

/// A loop to be opened.
struct LoopSpec {
  AxisPlan plan;
  mlir::Value lower, upper; ///< null: the axis's own bounds
  bool reverse = false;     ///< from the last position to the first
  bool masked = false;      ///< one turn: lanes beyond the end do nothing
  bool whole = false;       ///< whole turns only: nothing is left behind them
  /// Added to the lower bound where every so many positions are visited.
  mlir::Value turn = {};
  std::int64_t turns = 1;
};

/// Windows, or rows that indices name, are asked for so many steps of this axis
/// before their turn; none: 0. Or the next row, while this one is written.
struct Ahead {
  unsigned axis = 0, steps = 0;
  bool rows = false, next = false;
};

/// The ends of a position, both reached, and whether the way between them is
/// exact in 64 bits; null: there is none.
struct Reach {
  mlir::Value low, high, fits;
};

/// Which lanes are read, and what the others give.
struct LaneChoice {
  mlir::Value mask, otherwise;
};

/// Work that shares the loops over some axes: reductions that need the same
/// earlier results.
struct ReductionGroup {
  llvm::SmallVector<qn::ReduceOp> members;
  llvm::SmallVector<LoopSpec> loops;   ///< outermost first
  llvm::SmallVector<qn::ScanOp> scans; ///< run along the innermost loop
  llvm::SmallVector<Copies> outer;     ///< copies of the axes bound around it
  unsigned inner = 1;                  ///< copies of the innermost loop
  bool lanes = false;                  ///< the innermost loop runs over lanes
  bool inTurns = false;                ///< portable, without lanes of its own
  bool inOrder = false;                ///< one accumulator, elements in order
  bool ascends = false; ///< each accumulator has its elements in order
  bool byRows = false;  ///< rows side by side have loops of their own
};

/// Scalar code for the first and the last lane of a vector.
struct Ends {
  unsigned axis = 0;
  Copies copies = 0;
  Frame first, last;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

/// A value written to the row of an output while `writer` runs, to be read
/// back when the output itself is made.
struct Kept {
  qn::StoreOp store;
  qn::ReduceOp writer;
};

} // namespace quern
