// Converts what the emitter makes to the LLVM dialect in one conversion.
#include "dsl/passes/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"

namespace quern {
#define GEN_PASS_DEF_LOOPSTOLLVM
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {
struct LoopsToLlvmPass : quern::impl::LoopsToLlvmBase<LoopsToLlvmPass> {
  /// The patterns are made once for all modules the pass will see.
  LogicalResult initialize(MLIRContext *context) override {
    converter = std::make_shared<LLVMTypeConverter>(
        context, LowerToLLVMOptions(context));
    RewritePatternSet made(context);
    populateSCFToControlFlowConversionPatterns(made);
    cf::populateControlFlowToLLVMConversionPatterns(*converter, made);
    arith::populateCeilFloorDivExpandOpsPatterns(made);
    arith::populateArithToLLVMConversionPatterns(*converter, made);
    populateMathToLLVMConversionPatterns(*converter, made);
    populateVectorToLLVMConversionPatterns(*converter, made);
    patterns = FrozenRewritePatternSet(std::move(made));
    return success();
  }

  void runOnOperation() override {
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(getOperation(), target, patterns)))
      signalPassFailure();
  }

  std::shared_ptr<LLVMTypeConverter> converter;
  FrozenRewritePatternSet patterns;
};
} // namespace
