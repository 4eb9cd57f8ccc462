// The dialects the compiler works with and the passes it registers.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace quern {

/// Adds every dialect a stage of the compiler may hold, with what it needs to
/// be translated to LLVM IR.
void registerDialects(mlir::DialectRegistry &registry);

/// Makes the passes and pipelines available by name.
void registerPasses();

#define GEN_PASS_DECL
#include "dsl/passes/Passes.h.inc"

} // namespace quern
