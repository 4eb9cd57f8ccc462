// Atomic operations of one thread.
#pragma once

#include "dsl/dialect/Dialect.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// What the element becomes.
mlir::Value plainUpdate(mlir::OpBuilder &b, mlir::Location loc, qn::AtomicOp op,
                        mlir::Value old, mlir::Value value,
                        mlir::Value expected);

/// What a back end makes of LLVM's atomic operations.
struct AtomicTraits {
  bool hasFloatAdd = false;
  /// Of `atomicrmw` neither order nor scope: it is relaxed, on the device.
  bool isPlain = false;
};

/// Changes what `pointer` leads to in one step, seen in `scope`, LLVM's name;
/// gives the old value as it is in memory.
mlir::Value atomicUpdate(mlir::OpBuilder &b, mlir::Location loc,
                         qn::AtomicOp op, mlir::Value pointer,
                         mlir::Value value, mlir::Value expected,
                         llvm::StringRef scope, AtomicTraits traits);

} // namespace quern
