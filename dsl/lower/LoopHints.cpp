// Hints are attributes that the lowering of loops hands on.
#include "dsl/lower/LoopHints.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

void quern::neverUnroll(scf::ForOp loop) {
  Builder b(loop.getContext());
  auto unroll = LLVM::LoopUnrollAttr::get(loop.getContext(),
                                          /*disable=*/b.getBoolAttr(true), {},
                                          {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation",
                LLVM::LoopAnnotationAttr::get(loop.getContext(), {}, {}, {},
                                              unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}
