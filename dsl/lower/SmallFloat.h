// Scalar operations on vectors; conversions of floats of 16 and 8 bits are made
// of integer code where the target has none.
#pragma once

#include "dsl/target/TargetInfo.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// Widens to f32; `value` is a scalar or a vector of a small float.
mlir::Value widenSmallFloat(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value value);

/// Rounds f32 to nearest even. What is too large becomes infinite, or a NaN in
/// a format without infinities.
mlir::Value roundSmallFloat(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value value, mlir::FloatType type);

/// The same operation on other operands: scalars, or vectors of `lanes`.
llvm::SmallVector<mlir::Value>
cloneLifted(mlir::OpBuilder &builder, const TargetInfo &target,
            mlir::Operation *op, mlir::ValueRange operands, unsigned lanes);

} // namespace quern
