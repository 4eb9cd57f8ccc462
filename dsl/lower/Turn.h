// Transposes of registers: what lies along one axis in memory and is wanted
// along another.
#pragma once

#include "mlir/IR/Builders.h"

namespace quern {

/// Turns R vectors of L lanes, both powers of two and R at most L, into R
/// vectors that hold lane after lane: R elements of the first, R of the next.
llvm::SmallVector<mlir::Value> turned(mlir::OpBuilder &builder,
                                      mlir::Location loc,
                                      llvm::SmallVector<mlir::Value> vectors);

/// Squares that lie side by side, `side` rows of them, each row one vector:
/// into as many vectors with an element of each row of all squares.
llvm::SmallVector<mlir::Value>
turnedBeside(mlir::OpBuilder &builder, mlir::Location loc,
             llvm::SmallVector<mlir::Value> rows);

/// As many vectors as each has segments: one of the first segments, one of the
/// second.
llvm::SmallVector<mlir::Value>
turnedSegments(mlir::OpBuilder &builder, mlir::Location loc,
               llvm::SmallVector<mlir::Value> vectors);

/// Rows of L lanes, a multiple of L of them, into L vectors with an element of
/// each row: squares lie side by side and are turned together.
llvm::SmallVector<mlir::Value> turnedRows(mlir::OpBuilder &builder,
                                          mlir::Location loc,
                                          llvm::ArrayRef<mlir::Value> rows);

/// The lanes of a vector in the opposite order.
mlir::Value turnedRound(mlir::OpBuilder &builder, mlir::Value value);

} // namespace quern
