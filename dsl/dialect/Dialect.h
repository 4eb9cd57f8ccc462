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
} // namespace quern

#include "dsl/dialect/Dialect.h.inc"
#include "dsl/dialect/Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dsl/dialect/Attributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dsl/dialect/Types.h.inc"
#define GET_OP_CLASSES
#include "dsl/dialect/Ops.h.inc"
