// The qn dialect in C++: its type and operations.
#pragma once

#include "dsl/Specialization.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace quern {
llvm::hash_code hash_value(StrideClass stride);

/// Of a checked operation: the numbers of its indices that the text gives as
/// `u64`, those of a copy's `from` behind those of its `to`. Where one is out
/// of range the error says it without a sign.
inline constexpr char unsignedIndices[] = "qn.unsigned";

namespace qn {
/// Marks those of `count` indices of `from`, beginning with number `first`,
/// that are marked there, at `to`, whose indices they are.
void keepUnsigned(mlir::Operation *from, std::int64_t first, std::int64_t count,
                  mlir::Operation *to);
} // namespace qn
} // namespace quern

#include "dsl/dialect/Dialect.h.inc"
#include "dsl/dialect/Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dsl/dialect/Attributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dsl/dialect/Types.h.inc"
#define GET_OP_CLASSES
#include "dsl/dialect/Ops.h.inc"
