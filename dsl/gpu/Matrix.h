// How the factors and the sum of matrix instructions lie in the lanes of a
// warp.
#pragma once

#include "dsl/target/TargetInfo.h"

#include "mlir/IR/Value.h"
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

} // namespace quern
