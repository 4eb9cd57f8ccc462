// Hints are attributes that the lowering of loops hands on.
#include "dsl/lower/LoopHints.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

static void annotate(scf::ForOp loop, BoolAttr disable, BoolAttr full) {
  auto unroll = LLVM::LoopUnrollAttr::get(loop.getContext(), disable, {}, {},
                                          full, {}, {}, {});
  loop->setAttr("loop_annotation",
                LLVM::LoopAnnotationAttr::get(loop.getContext(), {}, {}, {},
                                              unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

void quern::neverUnroll(scf::ForOp loop) {
  annotate(loop, BoolAttr::get(loop.getContext(), true), {});
}

void quern::fullyUnroll(scf::ForOp loop) {
  annotate(loop, {}, BoolAttr::get(loop.getContext(), true));
}
