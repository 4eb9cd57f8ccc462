// How values of the language lie in memory.
#pragma once

#include "dsl/dialect/Dialect.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// What an element, or a half of a complex one, takes: a byte for a truth
/// value; bits for a float of 8 bits and for bf16, which LLVM would round by a
/// call, should it make a vector of equal ones.
mlir::Type memoryType(mlir::Type element);

/// Of a tensor or of an array of a kernel.
mlir::Type elementOf(mlir::Value place);

/// A scalar or vector as it was loaded, as a value; a truth value is a byte
/// that is not zero.
mlir::Value fromMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Value raw,
                       mlir::Type element);
mlir::Value toMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                     mlir::Type element);

/// Elements of 8 or 16 bits at computed places, read by the words of 32 bits
/// that hold them: machines gather nothing smaller. Lanes without `mask` are
/// what `otherwise` says.
mlir::Value gatherSmall(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::VectorType type, mlir::Value pointers,
                        mlir::Value mask, mlir::Value otherwise);

/// The global that holds a constant table; made where the module has none.
std::string tableGlobal(mlir::OpBuilder &b, mlir::Operation *kernel,
                        qn::LookupOp op, unsigned space);

} // namespace quern
