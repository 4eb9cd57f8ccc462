// A stable sort of words in memory, as code.
#pragma once

#include "mlir/IR/Builders.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace quern {

/// Sorts `count` elements by the unsigned 64-bit words at `from[0]`; the other
/// arrays move along. `to` is room for as much. Runs of `sorted` elements are
/// in order already. Gives the arrays that hold the result: `from` or `to`.
llvm::SmallVector<mlir::Value, 4>
mergeSort(mlir::OpBuilder &builder, mlir::Location location,
          llvm::ArrayRef<mlir::Value> from, llvm::ArrayRef<mlir::Value> to,
          mlir::Value count, std::int64_t sorted = 1);

/// The element `index` words behind `pointer`.
mlir::Value wordAt(mlir::OpBuilder &builder, mlir::Location location,
                   mlir::Value pointer, mlir::Value index);

} // namespace quern
