// The pass form of the lowering to loops.
#include "dsl/dialect/Depth.h"
#include "dsl/lower/ToLoops.h"
#include "dsl/passes/Passes.h"
#include "dsl/threads/Threads.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace quern {
#define GEN_PASS_DEF_QNTOLOOPS
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {
struct QnToLoopsPass : quern::impl::QnToLoopsBase<QnToLoopsPass> {
  using QnToLoopsBase::QnToLoopsBase;

  void runOnOperation() override {
    std::optional<TargetInfo> target = targetNamed(targetName);
    if (!target) {
      getOperation().emitError() << "no target '" << targetName << "'";
      return signalPassFailure();
    }
    auto kernels = llvm::to_vector(getOperation().getOps<qn::RowwiseOp>());
    if (llvm::any_of(kernels, isTooDeep))
      return signalPassFailure();
    SmallVector<SmallVector<qn::RowwiseOp>> all;
    for (qn::RowwiseOp kernel : kernels)
      if (!kernel.getInsteadOf())
        all.push_back(formsOf(kernel));
      else if (!SymbolTable::lookupNearestSymbolFrom<qn::RowwiseOp>(
                   kernel, kernel.getInsteadOfAttr())) {
        kernel.emitOpError("runs instead of a kernel that is not there");
        return signalPassFailure();
      }
    for (ArrayRef<qn::RowwiseOp> forms : all)
      if (!lowerToLoops(forms, *target))
        return signalPassFailure();
    auto explicitKernels =
        llvm::to_vector(getOperation().getOps<qn::KernelOp>());
    for (qn::KernelOp kernel : explicitKernels)
      if (!lowerThreads(kernel, *target))
        return signalPassFailure();
  }
};
} // namespace
