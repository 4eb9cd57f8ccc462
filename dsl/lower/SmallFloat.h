// Conversions between f32 and floats of 16 and 8 bits, made of integer code.
#pragma once

#include "mlir/IR/Builders.h"

namespace quern {

/// Widens to f32; `value` is a scalar or a vector of a small float.
mlir::Value widenSmallFloat(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value value);

/// Rounds f32 to nearest even. What is too large becomes infinite, or a NaN in
/// a format without infinities.
mlir::Value roundSmallFloat(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value value, mlir::FloatType type);

} // namespace quern
