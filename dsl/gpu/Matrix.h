// How the factors and the sum of matrix instructions lie in the lanes of a
// warp.
#pragma once

#include "dsl/target/TargetInfo.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace quern {

/// A warp multiplies so many rows by as many columns: of 16-bit floats, whose
/// sums are f32, or of f64.
inline constexpr unsigned matrixSize = 16;

struct MatrixLayout {
  /// Row and column, or line and step of the depth, counted from the lane's
  /// own.
  using Place = std::pair<unsigned, unsigned>;

  /// A lane holds pieces of a factor: neighbours along the depth of a line,
  /// which is a row of the left and a column of the right one.
  unsigned run = 0;
  unsigned depth = matrixSize; ///< of what is multiplied at a time
  llvm::SmallVector<Place, 4> left, right;
  llvm::SmallVector<Place, 8> sums;
  mlir::Type sum; ///< of an element
  /// The sums are one value, a vector.
  bool isVector = false;
  /// A tile's sums are those of the transposed product: `sums` and a lane's own
  /// row and column are turned.
  bool isTurned = false;
  /// A lane's own sums begin at row `lane / lanesAcross * rowStep` and column
  /// `lane % lanesAcross * columnStep`.
  unsigned lanesAcross = matrixSize, rowStep = 1, columnStep = 1;

  unsigned sumValues() const { return isVector ? 1 : sums.size(); }
};

/// Where a lane's own places begin, numbers of i32.
struct MatrixLane {
  mlir::Value line, depth, row, column;
};

/// Every GPU of the table has instructions for factors of 16 bits; some have
/// others for f64.
bool hasMatrices(const TargetInfo &target, mlir::Type factor);

/// Where the elements of sums of this type lie. What no instruction makes lies
/// like sums of f32.
MatrixLayout matrixLayout(const TargetInfo &target, mlir::Type sum);

/// Where the elements of a tile of an explicit kernel lie, sums or factors: of
/// AMD's GPUs turned, so that a lane holds neighbours of a row, which are what
/// the next product takes of a left factor.
MatrixLayout tileLayout(const TargetInfo &target, mlir::Type element);

/// How many lanes of a warp share a row of a tile.
unsigned tileRowLanes(const TargetInfo &target);

/// Row and column of a place in a tile.
struct TilePlace {
  mlir::Value row, column;
};

/// Where a lane's own elements of a tile begin; numbers of the lane's type.
TilePlace tileLane(mlir::OpBuilder &b, mlir::Location loc,
                   const MatrixLayout &layout, mlir::Value lane);

/// Where an element of a thread's share of a tile of so many columns lies, and
/// in which of the thread's rows it is. `lane` and `element` are of i64.
struct TileElement {
  mlir::Value row, column, slot;
};
TileElement tileElement(mlir::OpBuilder &b, mlir::Location loc,
                        const TargetInfo &target, mlir::Type type,
                        mlir::Value lane, mlir::Value element,
                        std::int64_t columns);

/// Whose element of sixteen columns a column is: how many lanes behind the
/// first of the row, and which of the lane's elements of sixteen by sixteen, of
/// the first row that it has.
struct TileOwner {
  mlir::Value lane, element;
};
TileOwner tileOwner(mlir::OpBuilder &b, mlir::Location loc,
                    const MatrixLayout &layout, mlir::Value column);

} // namespace quern
