// The dialects the compiler works with and the passes it registers.
#include "dsl/passes/Passes.h"

#include "dsl/dialect/Dialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

void quern::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<qn::QnDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect,
                  mlir::LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

namespace quern {
#define GEN_PASS_REGISTRATION
#include "dsl/passes/Passes.h.inc"
} // namespace quern

void quern::registerPasses() {
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  registerQuernPasses();
}
