// Reductions whose lanes lie along another axis: rows of many columns are
// added to rows of states in memory.
#pragma once

#include "dsl/schedule/KernelModel.h"

#include <optional>

namespace quern {

struct Columns {
  llvm::SmallVector<qn::ReduceOp> members; ///< over the same axes, independent
  llvm::SmallVector<unsigned> outer;       ///< parallel axes without the lane's
  llvm::SmallVector<unsigned> before;      ///< reduced axes around `rows`
  unsigned rows = 0; ///< the reduced axis that is cut in parts
  unsigned lane = 0;
  unsigned lanes = 1;
  unsigned unrolled = 8;        ///< rows of one pass over the states
  std::int64_t width = 1024;    ///< columns of a unit
  std::int64_t partRows = 128;  ///< rows of a part
  std::int64_t worthwhile = 64; ///< rows from which on this pays
  std::int64_t mostParts = 0;   ///< larger ones from there on; 0: any number
  /// The lanes run along a reduced axis: a part has one state for each unit.
  bool isRow = false;
  /// Several rows of few columns are walked as one where they follow each
  /// other in memory: rows are taken together up to about so many elements.
  std::int64_t together = 512;
  /// Operands for which that must hold; without any, rows are taken alone.
  llvm::SmallVector<mlir::Value> flat;
  std::int64_t states() const {
    std::int64_t count = 0;
    for (qn::ReduceOp op : members)
      count += op->getNumResults();
    return count;
  }
  /// Long sums are merged from runs, so that rounding does not grow with the
  /// length (docs/decisions/0017).
  bool inRuns = false;
  /// Rows of states of a part: of the run under way and of those before.
  std::int64_t kept() const { return states() * (inRuns ? 2 : 1); }
};

/// How stores with these parallel axes, the lanes along `lane`, are made of
/// column reductions.
std::optional<Columns> findColumns(const KernelModel &model,
                                   llvm::ArrayRef<qn::StoreOp> stores,
                                   AxisSet parallel, unsigned lane);

} // namespace quern
