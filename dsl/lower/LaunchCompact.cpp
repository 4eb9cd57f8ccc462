// The launches of a write without gaps: how many values stand before a part of
// the axis says where it writes, apart from all others.
#include "dsl/lower/Launch.h"
#include "dsl/lower/PackedWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Makes of the numbers of values of the parts how many stand before each, and
/// behind the last one how many there are.
void LaunchBuilder::begins(Frame &frame) {
  qn::CompactOp op = launch.compact;
  Value parts = tiles(frame, launch.axes.front());
  Value zero = emitter.constant(frame, 0), one = emitter.constant(frame, 1);
  Type word = builder.getI64Type();
  auto loop = scf::ForOp::create(emitter.in(frame), loc, zero, parts, one,
                                 ValueRange{zero});
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame body = Frame::inside(frame, loop.getBody());
  Value before = loop.getRegionIterArg(0);
  Value slot = emitter.slot(body, loop.getInductionVar(), schedule.partsOffset);
  Value own = emitter.readSlot(body, slot, word);
  emitter.writeSlot(body, slot, before);
  Value sum = arith::AddIOp::create(emitter.in(body), loc, before, own);
  scf::YieldOp::create(emitter.in(body), loc, sum);
  frame.anchor = anchor;
  Value all = loop.getResult(0);
  emitter.writeSlot(frame, emitter.slot(frame, parts, schedule.partsOffset),
                    all);
  if (op.getChecked())
    PackedWriter(emitter, op).reportBeyond(frame, all);
}

/// Writes one part from where those before it end, up to where the next one
/// begins: parts that have no values read nothing.
void LaunchBuilder::compact(Frame &frame, Value number, const LoopSpec &part) {
  qn::CompactOp op = launch.compact;
  StringAttr places = op.getTensor().getType().getAxes()[0];
  Value one = emitter.constant(frame, 1);
  Value next = arith::AddIOp::create(emitter.in(frame), loc, number, one);
  auto bound = [&](Value which) {
    return emitter.readSlot(frame,
                            emitter.slot(frame, which, schedule.partsOffset),
                            builder.getI64Type());
  };
  Value begin = bound(number), end = bound(next);
  Value room = emitter.extent(frame, model.axisOf(places));
  OpBuilder &b = emitter.in(frame);
  end = arith::MinSIOp::create(b, loc, end, room);
  Value some =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, begin, end);
  auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  LoopSpec loop = part;
  loop.plan = emitter.lanePlan(inside, part.plan.axis, /*reduces=*/false);
  loop.plan.copies = 1;
  Emitter::Values at{begin};
  emitter.nest(inside, {loop}, at, [&](Frame &body, Emitter::Values &states) {
    states[0] = PackedWriter(emitter, op).write(body, states[0], end);
  });
}
