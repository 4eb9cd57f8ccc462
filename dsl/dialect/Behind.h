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

/// What a question about a value found out.
enum class Found : std::uint8_t {
  No,      ///< the answer is no
  Yes,     ///< for this value it is yes
  IfBehind ///< it is yes if it is for all operands
};

/// Whether the answer is yes for a value. Each value that it is made of is
/// asked once, however many uses it has.
bool holdsBehind(mlir::Value value, llvm::function_ref<Found(mlir::Value)> ask);

} // namespace quern
