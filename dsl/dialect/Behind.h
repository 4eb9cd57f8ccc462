// A walk over what values are made of.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Visitors.h"

namespace quern {

/// Calls `visit` once with each operation that some value of `values` is made
/// of, those that regions hold or take from around them included. Behind one
/// that `visit` skips it does not look. Whether `visit` interrupted the walk.
bool walkBehind(mlir::ValueRange values,
                llvm::function_ref<mlir::WalkResult(mlir::Operation *)> visit);

} // namespace quern
