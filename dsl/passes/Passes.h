// The dialects the compiler works with and the passes it registers.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace quern {

/// Adds every dialect a stage of the compiler may hold, with what it needs to
/// be translated to LLVM IR.
void registerDialects(mlir::DialectRegistry &registry);

/// Makes the passes and pipelines available by name.
void registerPasses();

} // namespace quern
