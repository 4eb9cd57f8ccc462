// Rows that the threads of a team keep in registers: every loop along such a
// row goes over the same vectors, and what it makes of them is there for the
// next.
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

/// One frame for each vector of a thread. Vectors that are not there are the
/// last one again: they are read, and count for nothing.
std::vector<Frame> &Emitter::cellsOf(Frame &frame, const LoopSpec &loop) {
  if (frame.cells && frame.cells->front().find(loop.plan.axis))
    return *frame.cells;
  Location loc = model.kernel.getLoc();
  frame.cells = std::make_shared<std::vector<Frame>>();
  Value lanes = constant(frame, loop.plan.lanes);
  OpBuilder &b = in(frame);
  Value first = arith::ExtUIOp::create(b, loc, b.getI64Type(), team->thread);
  first = arith::MulIOp::create(b, loc, first, lanes);
  Value last = arith::SubIOp::create(b, loc, loop.upper, lanes);
  for (unsigned number = 0; number < team->cells; ++number) {
    Value by =
        constant(frame, std::int64_t(number) * team->size * loop.plan.lanes);
    Frame cell = Frame::inside(frame, frame.block);
    cell.anchor = frame.anchor;
    Value at = arith::AddIOp::create(in(frame), loc, first, by);
    Value there = arith::MinSIOp::create(b, loc, at, last);
    cell.bind(Binding{.axis = loop.plan.axis,
                      .position = there,
                      .lanes = loop.plan.lanes,
                      .shared = true});
    cell.inRange =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, at, last);
    frame.cells->push_back(std::move(cell));
  }
  return *frame.cells;
}

void Emitter::keptRow(Frame &frame, const LoopSpec &loop, Values &states,
                      Body body) {
  Location loc = model.kernel.getLoc();
  std::vector<Frame> &cells = cellsOf(frame, loop);
  auto moveTo = [&](Operation *anchor) {
    for (Frame &cell : cells)
      cell.anchor = anchor;
  };
  for (Frame &cell : cells) {
    moveTo(frame.anchor);
    if (!states.empty()) {
      Values next(states);
      body(cell, next);
      OpBuilder &b = in(frame);
      for (auto [old, now] : llvm::zip(states, next))
        old = arith::SelectOp::create(b, loc, cell.inRange, now, old);
      continue;
    }
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
