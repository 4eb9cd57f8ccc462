// Scans that the threads of a team make together: stretch after stretch of a
// row, states go through lanes, then from warp to warp.
#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Whole stretches, whose threads have vectors, then what is left, element by
/// element. `states` are each thread's own, of what is reduced on the way.
void Emitter::teamScans(Frame &frame, const LoopSpec &loop,
                        ArrayRef<qn::ScanOp> scans, Values &states, Body body) {
  Location loc = model.kernel.getLoc();
  Value zero = constant(frame, 0), upper = extent(frame, loop.plan.axis);
  unsigned before = states.size();
  llvm::append_range(states, scanStates(frame, scans));
  if (loop.plan.lanes == 1) {
    scanStretches(frame, loop, zero, upper, scans, before, states, body);
    return states.truncate(before);
  }
  Value stretch = constant(frame, std::int64_t(team->size) * loop.plan.lanes);
  OpBuilder &b = in(frame);
  Value left = arith::RemUIOp::create(b, loc, upper, stretch);
  Value middle = arith::SubIOp::create(b, loc, upper, left);
  scanStretches(frame, loop, zero, middle, scans, before, states, body);
  LoopSpec rest = loop;
  rest.plan.lanes = 1;
  scanStretches(frame, rest, middle, upper, scans, before, states, body);
  states.truncate(before);
}

/// All threads go through all rounds: they meet in each. Of single elements
/// the last stretch may have fewer than threads; those without one read the
/// last one again, and count for nothing. The first `own` states are the
/// body's.
void Emitter::scanStretches(Frame &frame, const LoopSpec &loop, Value lower,
                            Value upper, ArrayRef<qn::ScanOp> scans,
                            unsigned own, Values &states, Body body) {
  Location loc = model.kernel.getLoc();
  unsigned lanes = loop.plan.lanes;
  Value by = constant(frame, std::int64_t(team->size) * lanes);
  Value one = constant(frame, 1), count = constant(frame, lanes);
  OpBuilder &b = in(frame);
  Value last = arith::SubIOp::create(b, loc, upper, one);
  Value first = arith::ExtUIOp::create(b, loc, b.getI64Type(), team->thread);
  first = arith::MulIOp::create(b, loc, first, count);
  auto made = scf::ForOp::create(b, loc, lower, upper, by, states);
  Operation *anchor = std::exchange(frame.anchor, made);
  Frame inner = Frame::inside(frame, made.getBody());
  in(inner);
  Value at = arith::AddIOp::create(b, loc, made.getInductionVar(), first);
  if (lanes == 1) {
    inner.inRange =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, at, last);
    at = arith::MinSIOp::create(b, loc, at, last);
  }
  if (loop.reverse)
    at = arith::SubIOp::create(b, loc, last, at);
  inner.bind(Binding{
      .axis = loop.plan.axis, .position = at, .lanes = lanes, .shared = true});
  Values carried(made.getRegionIterArgs());
  stepScans(inner, scans, MutableArrayRef(carried).drop_front(own));
  inRangeOnly(inner, MutableArrayRef(carried).take_front(own), body);
  scf::YieldOp::create(in(inner), loc, carried);
  frame.anchor = anchor;
  states.assign(made.result_begin(), made.result_end());
}

/// What is made of the scans, where there is an element: stores are left out
/// elsewhere, states stay.
void Emitter::inRangeOnly(Frame &frame, MutableArrayRef<Value> states,
                          Body body) {
  Values now(states.begin(), states.end());
  if (!frame.inRange || !states.empty()) {
    body(frame, now);
    if (frame.inRange)
      now = select(frame, frame.inRange, now,
                   Values(states.begin(), states.end()));
    llvm::copy(now, states.begin());
    return;
  }
  auto branch =
      scf::IfOp::create(in(frame), model.kernel.getLoc(), frame.inRange, false);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  body(inside, now);
  frame.anchor = anchor;
}

/// A thread's own elements first; then what all threads before it have.
Emitter::Values Emitter::teamScan(Frame &frame, qn::ScanOp scan, Copies copies,
                                  unsigned lanes,
                                  MutableArrayRef<Value> state) {
  Values neutral = emitAll(frame, scan.getInits(), copies), own = neutral;
  Values within = lanes > 1 ? laneScan(frame, scan, copies, lanes, own)
                            : plainScan(frame, scan, copies, own);
  if (frame.inRange)
    own = select(frame, frame.inRange, own, neutral);
  Values whole = beforeThread(frame, scan, copies, own, state);
  for (Value &value : whole)
    value = widen(frame, value, lanes);
  llvm::append_range(whole, within);
  return inlineRegion(frame, scan.getMerge(), whole, copies);
}

/// What lane `from` of the warp has.
Emitter::Values Emitter::fromLane(Frame &frame, ValueRange states, Value from) {
  Values taken;
  in(frame);
  for (Value value : states)
    taken.push_back(
        team->device->shuffle(value.getLoc(), Value(), value, from));
  return taken;
}

/// The state before this thread's elements; `state`, what came before the
/// stretch, becomes what comes behind it.
Emitter::Values Emitter::beforeThread(Frame &frame, qn::ScanOp scan,
                                      Copies copies, ValueRange own,
                                      MutableArrayRef<Value> state) {
  Location loc = scan.getLoc();
  unsigned warp = team->device->target.warp;
  auto number = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(in(frame), loc,
                                     builder.getI32IntegerAttr(value));
  };
  auto earlier = [&](ValueRange states, unsigned by, Value &isThere) {
    Value step = number(by);
    using Predicate = arith::CmpIPredicate;
    isThere =
        arith::CmpIOp::create(builder, loc, Predicate::uge, team->lane, step);
    Value from = arith::SubIOp::create(builder, loc, team->lane, step);
    from = arith::SelectOp::create(builder, loc, isThere, from, team->lane);
    return fromLane(frame, states, from);
  };
  auto merged = [&](ValueRange first, ValueRange second) {
    Values both(first);
    llvm::append_range(both, second);
    return inlineRegion(frame, scan.getMerge(), both, copies);
  };
  Values upTo(own);
  Value isThere;
  for (unsigned by = 1; by < warp; by *= 2) {
    Values before = earlier(upTo, by, isThere);
    upTo = select(frame, isThere, merged(before, upTo), upTo);
  }
  Values before = earlier(upTo, 1, isThere), base(state.begin(), state.end());
  Values total = base;
  if (team->kind == TeamKind::Block)
    total = behindWarps(frame, scan, copies, upTo, base);
  else
    total = merged(base, fromLane(frame, upTo, number(warp - 1)));
  before = select(frame, isThere, merged(base, before), base);
  for (auto [carried, value] : llvm::zip(state, total))
    carried = value;
  return before;
}

/// A lane of every warp leaves its states for the others. What was left before
/// may still be read: hence the first barrier.
void Emitter::leaveWarpStates(Frame &frame, ValueRange states, unsigned lane) {
  Location loc = model.kernel.getLoc();
  in(frame);
  team->device->barrier(loc);
  Value which =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(lane));
  Value leaves = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       team->lane, which);
  auto branch = scf::IfOp::create(builder, loc, leaves, false);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  for (auto [number, value] : llvm::enumerate(states)) {
    Value at = warpSlot(number, (in(inside), team->warp));
    write(inside, at, value, value.getType(), Value());
  }
  in(frame);
  team->device->barrier(loc);
}

/// Goes through the states of all warps of a block: `base` becomes what comes
/// before this one; gives what comes behind the last.
Emitter::Values Emitter::behindWarps(Frame &frame, qn::ScanOp scan,
                                     Copies copies, ValueRange states,
                                     Values &base) {
  Location loc = scan.getLoc();
  Values total = base;
  leaveWarpStates(frame, states, team->device->target.warp - 1);
  for (unsigned of = 0; of < team->size / team->device->target.warp; ++of) {
    Value which = arith::ConstantOp::create(in(frame), loc,
                                            builder.getI32IntegerAttr(of));
    Value isMine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         team->warp, which);
    base = select(frame, isMine, total, base);
    Values both = total;
    for (auto [place, value] : llvm::enumerate(states))
      both.push_back(read(frame, warpSlot(place, (in(frame), which)),
                          value.getType(), 1, Value(), Value()));
    total = inlineRegion(frame, scan.getMerge(), both, copies);
  }
  return total;
}
