// What the lanes of a warp tell each other, in each vendor's instructions.
#include "dsl/gpu/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

Type Device::laneSet() const { return builder.getIntegerType(target.warp); }

Value Device::ballot(Location loc, Value here, Value condition) {
  if (!isNvptx())
    return call(loc, "llvm.amdgcn.ballot", laneSet(), condition);
  if (!here)
    here = number(loc, -1);
  return call(loc, "llvm.nvvm.vote.ballot.sync", laneSet(), {here, condition});
}

Value Device::shuffle(Location loc, Value here, Value value, Value from) {
  Type word = builder.getI32Type();
  if (isNvptx()) {
    if (!here)
      here = number(loc, -1);
    return inWords(loc, value, [&](Value part) {
      Value arguments[] = {here, part, from, number(loc, 31)};
      return call(loc, "llvm.nvvm.shfl.sync.idx.i32", word, arguments);
    });
  }
  Value place = arith::ShLIOp::create(builder, loc, from, number(loc, 2));
  return inWords(loc, value, [&](Value part) {
    return call(loc, "llvm.amdgcn.ds.bpermute", word, ValueRange{place, part});
  });
}

Value Device::shuffleXor(Location loc, Value value, Value lane, unsigned by) {
  if (!isNvptx())
    return shuffle(loc, {}, value,
                   arith::XOrIOp::create(builder, loc, lane, number(loc, by)));
  return inWords(loc, value, [&](Value part) {
    Value arguments[] = {number(loc, -1), part, number(loc, by),
                         number(loc, 31)};
    return call(loc, "llvm.nvvm.shfl.sync.bfly.i32", builder.getI32Type(),
                arguments);
  });
}

/// Lanes of AMD's warps are in step: only memory must be in order.
void Device::warpBarrier(Location loc, Value here) {
  if (isNvptx()) {
    call(loc, "llvm.nvvm.bar.warp.sync", Type(), here ? here : number(loc, -1));
    return;
  }
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release,
                        "wavefront");
  call(loc, "llvm.amdgcn.wave.barrier", Type(), {});
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire,
                        "wavefront");
}

StringRef Device::scopeName(qn::Scope scope) const {
  switch (scope) {
  case qn::Scope::row:
  case qn::Scope::warp:
    return isNvptx() ? "block" : "wavefront";
  case qn::Scope::block:
    return isNvptx() ? "block" : "workgroup";
  case qn::Scope::device:
    return isNvptx() ? "device" : "agent";
  case qn::Scope::system:
    return "";
  }
  llvm_unreachable("every scope has its name");
}
