// Rows that the threads of a team keep in registers: every loop along such a
// row goes over the same vectors, and what it makes of them is there for the
// next.
#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// A loop over all of an axis. The entry is meant for rows that fit.
bool Emitter::isKeptRow(Frame &frame, const LoopSpec &loop) {
  return team->cells && !model.localAxis(loop.plan.axis) &&
         loop.plan.lanes == team->vectors && !loop.reverse &&
         loop.lower == constant(frame, 0) &&
         loop.upper == extent(frame, loop.plan.axis);
}

/// One frame for each vector of a thread. A warp has a stretch of the row, so
/// that its vectors lie constants apart. What a vector that is not there would
/// be is not read, and counts for nothing.
std::vector<Frame> &Emitter::cellsOf(Frame &frame, const LoopSpec &loop) {
  if (frame.cells && frame.cells->front().find(loop.plan.axis))
    return *frame.cells;
  Location loc = model.kernel.getLoc();
  frame.cells = std::make_shared<std::vector<Frame>>();
  std::int64_t warp = team->device->target.warp;
  std::int64_t stretch = warp * team->cells * loop.plan.lanes;
  OpBuilder &b = in(frame);
  auto times = [&](Value value, std::int64_t factor) -> Value {
    Value by = constant(frame, factor);
    value = arith::ExtUIOp::create(in(frame), loc, b.getI64Type(), value);
    return arith::MulIOp::create(b, loc, value, by);
  };
  Value size = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(warp));
  Value before = arith::DivUIOp::create(b, loc, team->thread, size);
  Value first = times(before, stretch);
  Value own = times(team->lane, loop.plan.lanes);
  first = arith::AddIOp::create(b, loc, first, own);
  // Elements from the thread's first on: one number tells which are there.
  Value left = arith::SubIOp::create(in(frame), loc, loop.upper, first);
  if (!model.kernel.getWide())
    left = arith::TruncIOp::create(b, loc, b.getI32Type(), left);
  for (unsigned number = 0; number < team->cells; ++number) {
    Value by = constant(frame, number * warp * loop.plan.lanes);
    Frame cell = Frame::inside(frame, frame.block);
    cell.anchor = frame.anchor;
    Value at = arith::AddIOp::create(in(frame), loc, first, by);
    cell.bind(Binding{.axis = loop.plan.axis,
                      .position = at,
                      .lanes = loop.plan.lanes,
                      .shared = true});
    Value passed = arith::ConstantOp::create(
        b, loc,
        b.getIntegerAttr(left.getType(), number * warp * loop.plan.lanes));
    cell.inRange =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, passed);
    cell.guards = true;
    frame.cells->push_back(std::move(cell));
  }
  // All that is kept is under way at once.
  fetch(*frame.cells, loop.plan.axis, launch->parallel);
  return *frame.cells;
}

/// Reads what lies along `axis`, and of `others` along some of them too. What
/// has an axis that is not bound here is other launches'.
void Emitter::fetch(MutableArrayRef<Frame> cells, unsigned axis,
                    AxisSet others) {
  for (qn::LoadOp load : model.kernel.block().getOps<qn::LoadOp>()) {
    AxisSet axes = model.axesOf(load.getTensor().getType());
    if (!load.getIndices().empty() || !hasAxis(axes, axis) ||
        (others && !(axes & others)) || (axes & ~cells.front().bound))
      continue;
    for (Frame &cell : cells)
      emit(cell, load.getResult(), 0);
  }
}

void Emitter::keptRow(Frame &frame, const LoopSpec &loop, Values &states,
                      Body body) {
  Location loc = model.kernel.getLoc();
  MutableArrayRef<Frame> cells = cellsOf(frame, loop);
  unsigned some = std::max(2u, 4 / loop.plan.lanes);
  auto moveTo = [&](Operation *anchor) {
    for (Frame &cell : cells)
      cell.anchor = anchor;
  };
  for (auto [number, cell] : llvm::enumerate(cells)) {
    moveTo(frame.anchor);
    if (!states.empty()) {
      Values next(states);
      body(cell, next);
      OpBuilder &b = in(frame);
      for (auto [old, now] : llvm::zip(states, next))
        old = arith::SelectOp::create(b, loc, cell.inRange, now, old);
      continue;
    }
    // What all rows share comes for a few elements at a time.
    if (number % some == 0)
      fetch(cells.slice(number).take_front(some), loop.plan.axis, {});
    auto branch = scf::IfOp::create(in(frame), loc, cell.inRange, false);
    Operation *anchor = std::exchange(frame.anchor, branch);
    moveTo(branch);
    Frame inside = Frame::inside(cell, branch.thenBlock());
    inside.anchor = branch.thenBlock()->getTerminator();
    body(inside, states);
    frame.anchor = anchor;
  }
  moveTo(frame.anchor);
}
