// A stable sort of words in memory, as code.
#pragma once

#include "mlir/IR/Builders.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace quern {

/// Moves arrays on and makes the next state of one.
using Pass = llvm::function_ref<mlir::Value(
    mlir::Value state, mlir::ValueRange from, mlir::ValueRange to)>;
/// Passes that move arrays from one room to the other and back, while work is
/// left in the state. Gives the arrays that hold the result: `from` or `to`.
llvm::SmallVector<mlir::Value, 4>
inPasses(mlir::OpBuilder &builder, mlir::Location location, mlir::Value state,
         llvm::ArrayRef<mlir::Value> from, llvm::ArrayRef<mlir::Value> to,
         llvm::function_ref<mlir::Value(mlir::Value state)> isLeft, Pass pass);

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
