// Products whose results other reductions of the same launch walk over, kept
// for a block of rows at a time: attention, and norms behind a product.
#pragma once

#include "dsl/schedule/Contraction.h"

namespace quern {

/// A value over rows and the inner axis that is written once for a block; one
/// of bf16 as the words that pairs are.
struct KeptValue {
  mlir::Value value;
  mlir::Value where;    ///< null, or zero is kept where it is false
  bool replaces = true; ///< later uses of the value read it back
  bool isPaired() const { return value.getType().isBF16(); }
};

/// A position of the inner axis that no reduction of the launch looks beyond.
/// It grows from row to row, as long as no row axis slower than its own steps
/// on.
struct InnerBound {
  mlir::Value value; ///< null: there is no bound
  bool inclusive = false;
  /// The row axes from the one that it grows along on, if any are slower.
  llvm::SmallVector<unsigned, 2> along;
};

/// Sums over the inner axis of kept values times columns, all over the same
/// columns.
struct KeptSums {
  Tiling tiling;
  llvm::SmallVector<unsigned> factors; ///< of every product, among the kept
};

struct RowBlocks {
  /// Few rows: columns are read where they lie, none are packed.
  bool inPlace = false;
  Tiling scores; ///< products over rows and the inner axis, its one column
  llvm::SmallVector<KeptSums, 1> sums;
  llvm::SmallVector<KeptValue> kept;
  /// What other reductions over the inner axis give, written once for a row.
  llvm::SmallVector<mlir::Value> results;
  InnerBound lower, upper;
  unsigned inner() const { return scores.columns.back(); }
  std::int64_t rowBlock() const { return scores.rowBlock; }
};

/// How stores with these parallel axes are computed by blocks of rows, where
/// some product has an axis that another reduction removes.
std::optional<RowBlocks> findRowBlocks(const KernelModel &model,
                                       const TargetInfo &target,
                                       llvm::ArrayRef<qn::StoreOp> stores,
                                       AxisSet parallel, AxisSet uneven,
                                       bool inPlace);

} // namespace quern
