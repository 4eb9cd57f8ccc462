// Sums of products whose factors are packed: which axes are rows, columns and
// summed, and the sizes of the blocks.
#pragma once

#include "dsl/schedule/KernelModel.h"
#include "dsl/target/TargetInfo.h"

#include <optional>

namespace quern {

/// The factors of a sum of products.
struct Factors {
  mlir::Value left, right;
};

/// The factors, where a reduction is a plain sum of floating products; nothing
/// else is taken unrounded.
std::optional<Factors> sumOfProducts(qn::ReduceOp op);

/// One sum of products of a contraction.
struct Product {
  qn::ReduceOp op;
  mlir::Value rows, columns; ///< the factor that has rows; that with columns
  llvm::SmallVector<unsigned> sums; ///< the fastest one last
  /// Neighbours of a factor lie along the last summed axis: vectors are read
  /// along it and transposed in registers.
  bool turnRows = false, turnColumns = false;
  /// A factor is a window: the summed axes that decide whether it is inside
  /// come first, so that its bounds are tested once for all of the others.
  bool window = false;
  /// Steps of the last summed axis that a window's elements are fetched ahead,
  /// where they lie far apart along it.
  unsigned ahead = 0;
};

/// Products over the same rows and columns, and the blocks they share.
struct Tiling {
  llvm::SmallVector<Product> products;
  unsigned number = 0; ///< among those of the kernel
  /// Flattened axes, the fastest one last; lanes run along the last column.
  llvm::SmallVector<unsigned> batch, rows, columns;
  mlir::Type element;
  unsigned height = 1;       ///< rows of the register tile
  unsigned lanes = 1;        ///< elements of a vector
  unsigned vectors = 2;      ///< vectors of a row of the register tile
  std::int64_t rowBlock = 0; ///< rows of a unit, at most
  std::int64_t panels = 1;   ///< panels of columns of a unit, at most
  std::int64_t depth = 256;  ///< summed elements of a block
  /// bf16 factors: two summed elements lie in one word of a panel and meet in
  /// one instruction.
  bool pairs = false;
  /// Pairs meet in tile registers: a panel of rows has, for every line of the
  /// summed axis, one such line of each row after the other.
  bool tiles = false;
  /// With few rows, columns are summed without packing.
  bool byColumns = false;
  /// Columns of a line that is streamed past a few rows; 0: none are streamed.
  std::int64_t lineColumns = 0;
  /// Steps of a part of a long sum, known to the host; null: it has no parts.
  mlir::Value part;
  std::int64_t width() const { return std::int64_t(lanes) * vectors; }
  std::int64_t blockWidth() const { return width() * panels; }
  /// Words of a panel that a block of the summed axis takes.
  std::int64_t words() const { return pairs ? depth / 2 : depth; }
};

/// The axes of a set, in the kernel's order.
llvm::SmallVector<unsigned> axisList(AxisSet set);
/// The reductions behind `stores`; none behind another unless `all`.
llvm::SmallVector<qn::ReduceOp>
reductionsBehind(llvm::ArrayRef<qn::StoreOp> stores, bool all);
/// Puts the summed axis that suits vectors last, and says where registers are
/// transposed.
void chooseTurns(const KernelModel &model, const Tiling &tiling,
                 Product &product);
/// Rows and vectors of the register tile for sums of type `element`.
void sizeTile(const TargetInfo &target, mlir::Type element, Tiling &tiling);
/// Rows of a unit, as the second cache holds them: the more, the less often
/// columns are packed.
void sizeBlock(const TargetInfo &target, Tiling &tiling);
/// Two bf16 products at once, where the target and every product can.
void pairUp(const KernelModel &model, const TargetInfo &target, Tiling &tiling);

/// How stores with these parallel axes are computed from packed factors, where
/// they can; `uneven` axes bound the loops of others.
std::optional<Tiling> findTiling(const KernelModel &model,
                                 const TargetInfo &target,
                                 llvm::ArrayRef<qn::StoreOp> stores,
                                 AxisSet parallel, AxisSet uneven);

} // namespace quern
