// Which passes run between two stages, in order.
#include "dsl/pipeline/Pipelines.h"

#include "dsl/passes/Passes.h"

#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

void quern::simplifyPipeline(mlir::OpPassManager &passes, bool isForGpu) {
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  if (isForGpu)
    passes.addPass(createQnCoarsen());
  else
    passes.addPass(createQnMoveWhole());
  passes.addPass(createQnNarrowDivisions());
  passes.addPass(createQnStageRepeated());
  if (!isForGpu) {
    passes.addPass(createQnStageDear());
    passes.addPass(createQnStageAcross());
    passes.addPass(createQnCarryNan());
  }
  passes.addPass(createQnKeepOld());
  if (!isForGpu)
    passes.addPass(createQnCompact());
}

void quern::llvmPipeline(mlir::OpPassManager &passes) {
  passes.addPass(createLoopsToLlvm());
}

void quern::linesPipeline(mlir::OpPassManager &passes) {
  passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
}
