// Rows that the threads of a team keep: every loop along such a row goes over
// the same vectors, and what it makes of those in registers is there for the
// next. Vectors in shared memory are read by the thread that has left them.
#include "dsl/gpu/KeptRow.h"
#include "dsl/schedule/StagedSlots.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// A loop over all of an axis. The entry is meant for rows that fit.
bool Emitter::isKeptRow(Frame &frame, const LoopSpec &loop) {
  return team->kept.cells && !model.localAxis(loop.plan.axis) &&
         loop.plan.lanes == team->vectors && !loop.reverse &&
         loop.lower == constant(frame, 0) &&
         loop.upper == extent(frame, loop.plan.axis);
}

void Emitter::keptRow(Frame &frame, const LoopSpec &loop, Values &states,
                      Body body) {
  KeptRow(*this, frame, loop).walk(states, body);
}

/// A row that begins within a vector has a few elements before the first whole
/// one, and may have some behind the last.
void KeptRow::findEnds() {
  begin = loop.lower, end = loop.upper;
  if (!kept.phaseOf)
    return;
  auto operand = cast<BlockArgument>(kept.phaseOf);
  auto type = cast<qn::OperandType>(operand.getType());
  AxisSet outer = emitter.model.axesOf(type) & emitter.launch->parallel;
  Value at = emitter.address(frame, operand, outer, 0);
  unsigned bytes = storedBytes(type.getElementType());
  emitter.in(frame);
  at = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), at);
  Value log = number(llvm::Log2_32(bytes));
  emitter.in(frame);
  at = arith::ShRUIOp::create(b, loc, at, log);
  begin = both(minus(number(0), at), lanes - 1);
  begin = arith::MinUIOp::create(b, loc, begin, loop.upper);
  end = plus(begin, both(minus(loop.upper, begin), -std::int64_t(lanes)));
}

/// All that is kept is under way at once.
void KeptRow::keep() {
  frame.cells = std::make_shared<std::vector<Frame>>();
  addCells();
  if (kept.phaseOf)
    addEdges();
  fetch(*frame.cells, emitter.launch->parallel);
  if (!kept.sharedLanes)
    return;
  SmallVector<Slot> all = slots();
  Values none;
  walkVectors(
      none,
      [&](MutableArrayRef<Part> parts, Values &) {
        for (const Slot &slot : all)
          leave(parts.front().frame, slot, parts.front().local);
      },
      /*each=*/1, /*isLong=*/false);
  emitter.in(frame);
  device.commitCopies(loc);
}

void KeptRow::addCell(Value at, unsigned width, Value inRange) {
  Frame cell = Frame::inside(frame, frame.block);
  cell.anchor = frame.anchor;
  cell.bind(
      Binding{.axis = axis, .position = at, .lanes = width, .shared = true});
  cell.inRange = inRange;
  cell.guards = true;
  frame.cells->push_back(std::move(cell));
}

/// One frame for each vector of a thread. A warp has a stretch of the row, so
/// that its vectors lie constants apart. What a vector that is not there would
/// be is not read, and counts for nothing.
void KeptRow::addCells() {
  std::int64_t warp = device.target.warp, apart = warp * lanes;
  emitter.in(frame);
  Value size = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(warp));
  Value before = arith::DivUIOp::create(b, loc, team.thread, size);
  Value first = times(wide(before), apart * kept.cells);
  first = plus(plus(first, times(wide(team.lane), lanes)), begin);
  // Elements from the thread's first on: one number tells which are there.
  Value left = minus(end, first);
  if (!emitter.model.kernel.getWide())
    left = arith::TruncIOp::create(b, loc, b.getI32Type(), left);
  for (unsigned cell = 0; cell < kept.cells; ++cell) {
    Value at = plus(first, number(cell * apart));
    Value passed = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(left.getType(), cell * apart));
    addCell(
        at, lanes,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, passed));
  }
}

/// The first threads have one element each of those outside whole vectors.
void KeptRow::addEdges() {
  Value thread = wide(team.thread), vectors = minus(end, begin);
  Value behind = plus(thread, vectors), all = minus(loop.upper, vectors);
  emitter.in(frame);
  auto below = [&](Value bound) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread,
                                 bound);
  };
  Value at = arith::SelectOp::create(b, loc, below(begin), thread, behind);
  addCell(at, 1, below(all));
}

/// Reads what lies along the row, and of `others` along some of them too. What
/// has an axis that is not bound here is other launches'.
void KeptRow::fetch(MutableArrayRef<Frame> cells, AxisSet others) {
  const KernelModel &model = emitter.model;
  for (qn::LoadOp load : model.kernel.block().getOps<qn::LoadOp>()) {
    AxisSet axes = model.axesOf(load.getTensor().getType());
    if (!load.getIndices().empty() || !hasAxis(axes, axis) ||
        (others && !(axes & others)) || (axes & ~cells.front().bound))
      continue;
    for (Frame &cell : cells)
      emitter.emit(cell, load.getResult(), 0);
  }
}

void KeptRow::walkCells(Values &states, Body body) {
  MutableArrayRef<Frame> cells = *frame.cells;
  unsigned some = std::max(kept.phaseOf ? 1u : 2u, 4 / lanes);
  auto moveTo = [&](Operation *anchor) {
    for (Frame &cell : cells)
      cell.anchor = anchor;
  };
  for (auto [number, cell] : llvm::enumerate(cells)) {
    moveTo(frame.anchor);
    if (!states.empty()) {
      Values next(states);
      body(cell, next);
      emitter.in(frame);
      for (auto [old, now] : llvm::zip(states, next))
        old = arith::SelectOp::create(b, loc, cell.inRange, now, old);
      continue;
    }
    // What all rows share comes for a few elements at a time, of the first cell
    // by itself: it is under way while states are merged, and takes registers.
    if (number % some == 1 % some || number == 0)
      fetch(cells.slice(number).take_front(number ? some : 1), {});
    emitter.in(frame);
    auto branch = scf::IfOp::create(b, loc, cell.inRange, false);
    Operation *anchor = std::exchange(frame.anchor, branch);
    moveTo(branch);
    Frame inside = Frame::inside(cell, branch.thenBlock());
    inside.anchor = branch.thenBlock()->getTerminator();
    body(inside, states);
    frame.anchor = anchor;
  }
  moveTo(frame.anchor);
}
