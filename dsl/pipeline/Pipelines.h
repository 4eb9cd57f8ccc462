// Which passes run between two stages, in order.
#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace quern {

/// On a module of the qn dialect, before it is scheduled. A GPU's maximum
/// carries NaN by itself.
void simplifyPipeline(mlir::OpPassManager &passes, bool isForGpu);

/// From loops to the LLVM dialect.
void llvmPipeline(mlir::OpPassManager &passes);

/// On the LLVM dialect: places in the text become what debuggers read.
void linesPipeline(mlir::OpPassManager &passes);

} // namespace quern
