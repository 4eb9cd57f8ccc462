// How many operations a value takes: the one counter of the cost model.
#pragma once

#include "mlir/IR/Value.h"

namespace quern::cost {

/// Elementwise operations that `value` is made of, each once, as far back as
/// values are included.
unsigned operationsBehind(mlir::Value value,
                          llvm::function_ref<bool(mlir::Value)> isIncluded);

} // namespace quern::cost
