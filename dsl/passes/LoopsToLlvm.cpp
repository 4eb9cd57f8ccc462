// Converts what the emitter makes to the LLVM dialect in one conversion.
#include "dsl/passes/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace quern {
#define GEN_PASS_DEF_LOOPSTOLLVM
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {
/// LLVM takes the sign of a rounded number from before the rounding, rounds in
/// front of the sign what is rounded behind it, and may round the sign's number
/// to another type, by a call into a library, to have it: fences hide where the
/// sign comes from and what becomes of it.
struct SignOfRounded : ConvertOpToLLVMPattern<math::CopySignOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(math::CopySignOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    bool isRounded = op.getRhs().getDefiningOp<arith::TruncFOp>();
    bool rounds = llvm::any_of(op->getUsers(), llvm::IsaPred<arith::TruncFOp>);
    if (!isRounded && !rounds)
      return failure();
    auto fence = [&](Value value) {
      return LLVM::CallIntrinsicOp::create(
                 rewriter, op.getLoc(), value.getType(),
                 rewriter.getStringAttr("llvm.arithmetic.fence"), value)
          .getResult(0);
    };
    Value sign = operands.getRhs();
    Value made =
        LLVM::CopySignOp::create(rewriter, op.getLoc(), operands.getLhs(),
                                 isRounded ? fence(sign) : sign);
    rewriter.replaceOp(op, rounds ? fence(made) : made);
    return success();
  }
};

/// Makes blocks of loops and branches. Each splits its block and moves what
/// stands behind it: the last goes first, so that every operation moves once.
LogicalResult makeBlocks(Operation *top, const FrozenRewritePatternSet &rules) {
  SmallVector<Operation *> control;
  top->walk([&](Operation *op) {
    if (isa<scf::SCFDialect>(op->getDialect()) &&
        !op->hasTrait<OpTrait::IsTerminator>())
      control.push_back(op);
  });
  PatternApplicator applicator(rules);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(top->getContext());
  for (Operation *op : llvm::reverse(control)) {
    rewriter.setInsertionPoint(op);
    if (failed(applicator.matchAndRewrite(op, rewriter)))
      return op->emitOpError("has no form as blocks");
  }
  return success();
}

struct LoopsToLlvmPass : quern::impl::LoopsToLlvmBase<LoopsToLlvmPass> {
  /// The patterns are made once for all modules the pass will see.
  LogicalResult initialize(MLIRContext *context) override {
    converter = std::make_shared<LLVMTypeConverter>(
        context, LowerToLLVMOptions(context));
    RewritePatternSet blocks(context), made(context);
    populateSCFToControlFlowConversionPatterns(blocks);
    blockRules = FrozenRewritePatternSet(std::move(blocks));
    cf::populateControlFlowToLLVMConversionPatterns(*converter, made);
    arith::populateCeilFloorDivExpandOpsPatterns(made);
    arith::populateArithToLLVMConversionPatterns(*converter, made);
    populateMathToLLVMConversionPatterns(*converter, made);
    made.add<SignOfRounded>(*converter, /*benefit=*/2);
    populateVectorToLLVMConversionPatterns(*converter, made);
    patterns = FrozenRewritePatternSet(std::move(made));
    return success();
  }

  void runOnOperation() override {
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    if (failed(makeBlocks(getOperation(), blockRules)) ||
        failed(applyFullConversion(getOperation(), target, patterns)))
      signalPassFailure();
  }

  std::shared_ptr<LLVMTypeConverter> converter;
  FrozenRewritePatternSet blockRules, patterns;
};
} // namespace
