// What the blocks of a cluster tell each other.
#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Every block leaves its states, and every warp reads those of all blocks. An
/// arrival is open where this begins and where it ends: what was left before is
/// written anew, or its block ends, only when all have read it.
Emitter::Values Emitter::mergeBlocks(Frame &frame, qn::ReduceOp op,
                                     Values state) {
  Device &device = *team->device;
  Location loc = op.getLoc();
  auto word = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  constexpr std::int64_t ownSlot = 32; // behind those of warps
  in(frame);
  device.awaitCluster(loc);
  auto branch = scf::IfOp::create(builder, loc, team->leads, false);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  for (auto [number, value] : llvm::enumerate(state)) {
    in(inside);
    Value at = warpSlot(number, word(ownSlot));
    write(inside, at, value, value.getType(), Value());
  }
  in(inside);
  device.showCluster(loc);
  in(frame);
  device.arriveCluster(loc);
  device.awaitCluster(loc);
  Value from =
      arith::AndIOp::create(builder, loc, team->lane, word(team->blocks - 1));
  for (auto [number, value] : llvm::enumerate(state)) {
    in(frame);
    Value at = device.inBlock(loc, warpSlot(number, word(ownSlot)), from);
    value = read(frame, at, value.getType(), 1, Value(), Value());
  }
  in(frame);
  device.arriveCluster(loc, /*isBehind=*/true);
  return mergeThreads(frame, op, state, team->blocks);
}
