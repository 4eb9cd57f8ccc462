// Control flow of lifted code: both sides of a branch, loops masked per lane.
#include "dsl/lower/Anchor.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

Value Emitter::operand(Frame &frame, Value value, Local &local, Copies copies) {
  Value known = local.lookup(value);
  return known ? known : emit(frame, value, copies);
}

/// Code of a region in place, but for what is known; `local` is taken by value,
/// since what a region makes is not seen outside.
Emitter::Values Emitter::regionValues(Frame &frame, Region &region, Local local,
                                      ValueRange arguments, Copies copies) {
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    local[argument] = value;
  for (Operation &op : region.front().without_terminator()) {
    if (op.getNumResults() == 1 && local.contains(op.getResult(0)))
      continue;
    Values made = operation(frame, &op, local, copies);
    for (auto [result, value] : llvm::zip(op.getResults(), made))
      local[result] = value;
  }
  Values yielded;
  for (Value value : region.front().getTerminator()->getOperands())
    yielded.push_back(operand(frame, value, local, copies));
  return yielded;
}

Emitter::Values Emitter::select(Frame &frame, Value condition, ValueRange yes,
                                ValueRange no) {
  Values chosen;
  for (auto [a, b] : llvm::zip(yes, no)) {
    unsigned lanes = std::max({lanesOf(condition), lanesOf(a), lanesOf(b)});
    in(frame);
    Value wideA = widen(frame, a, lanes), wideB = widen(frame, b, lanes);
    Value wideC = widen(frame, condition, lanes);
    chosen.push_back(arith::SelectOp::create(builder, condition.getLoc(), wideC,
                                             wideA, wideB));
  }
  return chosen;
}

Emitter::Values Emitter::control(Frame &frame, Operation *op, Local &local,
                                 Copies copies) {
  if (isa<scf::IfOp>(op))
    return conditional(frame, op, local, copies);
  if (model.roundsOf(op))
    return rounds(frame, cast<scf::WhileOp>(op), copies);
  if (isa<scf::WhileOp>(op))
    return whileLoop(frame, op, local, copies);
  return countedLoop(frame, op, local, copies);
}

/// Whether the code of a region takes longer than a branch around it.
static bool isDear(Region &region) {
  constexpr unsigned least = 16;
  unsigned operations = 0;
  region.walk([&](Operation *op) {
    StringRef dialect = op->getDialect()->getNamespace();
    operations += dialect == "arith" || dialect == "math";
  });
  return operations >= least;
}

/// Whether the code of a region may find something wrong.
static bool mayFail(Region &region) {
  auto found = region.walk([](Operation *op) {
    auto load = dyn_cast<qn::LoadOp>(op);
    bool fails = isa<qn::RequireOp>(op) || (load && load.getChecked());
    return fails ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// What a region yields, made only if some lane takes it.
Emitter::Values Emitter::whereTaken(Frame &frame, Value taken, Region &region,
                                    Local &local, Copies copies) {
  unsigned lanes = lanesOf(taken);
  llvm::SaveAndRestore around(frame.arm);
  if (mayFail(region))
    frame.arm = both(frame, frame.arm, taken);
  if (lanes == 1 || !isDear(region))
    return regionValues(frame, region, local, {}, copies);
  Location loc = taken.getLoc();
  SmallVector<Type> types;
  for (Value value : region.front().getTerminator()->getOperands())
    types.push_back(VectorType::get({std::int64_t(lanes)}, value.getType()));
  OpBuilder &b = in(frame);
  Value any =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, taken);
  auto branch = scf::IfOp::create(b, loc, types, any, true);
  Anchor anchor(frame, branch);
  Frame some = Frame::inside(frame, branch.thenBlock());
  Values made = regionValues(some, region, local, {}, copies);
  for (Value &value : made)
    value = widen(some, value, lanes);
  scf::YieldOp::create(in(some), loc, made);
  builder.setInsertionPointToEnd(branch.elseBlock());
  Values nothing;
  for (Type type : types)
    nothing.push_back(
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
  scf::YieldOp::create(builder, loc, nothing);
  return Values(branch.getResults());
}

/// Both sides are made, since lanes may differ; what they find wrong
/// counts where it is taken.
Emitter::Values Emitter::conditional(Frame &frame, Operation *op, Local &local,
                                     Copies copies) {
  auto branch = cast<scf::IfOp>(op);
  Value condition = operand(frame, branch.getCondition(), local, copies);
  Value against = condition;
  bool isDearElse = lanesOf(condition) > 1 && isDear(branch.getElseRegion());
  if (isDearElse || mayFail(branch.getElseRegion())) {
    OpBuilder &b = in(frame);
    Value ones = arith::ConstantOp::create(b, op->getLoc(),
                                           b.getOneAttr(condition.getType()));
    against = arith::XOrIOp::create(b, op->getLoc(), condition, ones);
  }
  Values yes =
      whereTaken(frame, condition, branch.getThenRegion(), local, copies);
  Values no = whereTaken(frame, against, branch.getElseRegion(), local, copies);
  return select(frame, condition, yes, no);
}

/// The lanes a loop runs for: those of anything it reads from outside.
unsigned Emitter::lanesInside(Frame &frame, Operation *op, Local &local) {
  unsigned lanes = 1;
  auto count = [&](Value value) {
    if (Value known = local.lookup(value))
      lanes = std::max(lanes, lanesOf(known));
    else if (const Binding *lane = laneOf(frame, model.axesOf(value)))
      lanes = std::max(lanes, lane->lanes);
  };
  for (Value value : op->getOperands())
    count(value);
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      count(value);
    for (Value value : inner->getResults())
      count(value);
  });
  return lanes;
}

/// The states of a loop, what its condition hands on, and the active lanes.
Emitter::Values Emitter::whileStates(Frame &frame, scf::WhileOp loop,
                                     Local &local, Copies copies,
                                     unsigned lanes) {
  Location loc = loop.getLoc();
  Values states;
  for (Value init : loop.getInits())
    states.push_back(operand(frame, init, local, copies));
  in(frame);
  for (Type type : loop.getResultTypes())
    states.push_back(
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
  states.push_back(
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
  for (Value &value : states)
    value = widen(frame, value, lanes);
  return states;
}

/// Whether a loop goes on from `states`, and behind that what its condition
/// hands on.
Emitter::Values Emitter::whileTest(Frame &test, scf::WhileOp loop, Local local,
                                   ValueRange states, Copies copies) {
  Block &head = loop.getBefore().front();
  for (auto [argument, value] : llvm::zip(head.getArguments(), states))
    local[argument] = value;
  for (Operation &inner : head.without_terminator()) {
    Values values = operation(test, &inner, local, copies);
    for (auto [result, value] : llvm::zip(inner.getResults(), values))
      local[result] = value;
  }
  Values tested;
  for (Value value : head.getTerminator()->getOperands())
    tested.push_back(operand(test, value, local, copies));
  return tested;
}

/// Goes on where `goes` holds in some lane that has not left before; lanes that
/// left keep what was handed on when they did.
void Emitter::whileLeave(Frame &test, scf::WhileOp loop, Value goes,
                         ValueRange handed, unsigned lanes) {
  auto arguments = test.block->getArguments();
  unsigned count = loop.getInits().size();
  goes = both(test, widen(test, goes, lanes), arguments.back());
  Values next(arguments.take_front(count));
  llvm::append_range(next, select(test, arguments.back(), handed,
                                  arguments.drop_front(count).drop_back()));
  next.push_back(goes);
  in(test);
  Value any = goes;
  if (lanes > 1)
    any = vector::ReductionOp::create(builder, loop.getLoc(),
                                      vector::CombiningKind::OR, goes);
  scf::ConditionOp::create(builder, loop.getLoc(), any, next);
}

/// Lanes leave the loop one by one; the rest goes on until none is left.
/// `test` fills the block of the condition, `step` that of a round, whose next
/// states it gives.
Emitter::Values Emitter::lanesLeave(Frame &frame, scf::WhileOp loop,
                                    ValueRange states,
                                    function_ref<void(Block *)> test,
                                    function_ref<Values(Block *)> step) {
  unsigned count = loop.getInits().size();
  Location loc = loop.getLoc();
  SmallVector<Type> types(states.getTypes());
  auto made = scf::WhileOp::create(in(frame), loc, types, states);
  SmallVector<Location> places(types.size(), loc);
  Block *before = builder.createBlock(&made.getBefore(), {}, types, places);
  Block *after = builder.createBlock(&made.getAfter(), {}, types, places);
  Anchor anchor(frame, made);
  test(before);
  Values next = step(after);
  llvm::append_range(next, after->getArguments().drop_front(count));
  OpBuilder end = OpBuilder::atBlockEnd(after);
  scf::YieldOp::create(end, loc, next);
  return Values(made.getResults().drop_front(count).drop_back());
}

/// A loop from its states, the active lanes behind them.
Emitter::Values Emitter::lanesLoop(Frame &frame, scf::WhileOp loop,
                                   Local &local, ValueRange states,
                                   Copies copies) {
  unsigned count = loop.getInits().size(), lanes = lanesOf(states.back());
  auto test = [&](Block *before) {
    Frame inside = Frame::inside(frame, before);
    inside.active = before->getArguments().back();
    Values tested =
        whileTest(inside, loop, local, before->getArguments(), copies);
    whileLeave(inside, loop, tested[0], ValueRange(tested).drop_front(), lanes);
  };
  auto step = [&](Block *after) {
    Frame body = Frame::inside(frame, after);
    auto now = after->getArguments();
    body.active = now.back();
    Values stepped = regionValues(body, loop.getAfter(), local,
                                  now.drop_front(count).drop_back(), copies);
    return select(body, now.back(), stepped, now.take_front(count));
  };
  return lanesLeave(frame, loop, states, test, step);
}

/// The first test of a loop is made in front of it, where that is short: one
/// that no lane begins, as those for rare operands, then costs a branch.
Emitter::Values Emitter::whileLoop(Frame &frame, Operation *op, Local &local,
                                   Copies copies) {
  auto loop = cast<scf::WhileOp>(op);
  unsigned lanes = lanesInside(frame, op, local);
  Values states = whileStates(frame, loop, local, copies, lanes);
  if (lanes == 1 || isDear(loop.getBefore()) || mayFail(loop.getBefore()))
    return lanesLoop(frame, loop, local, states, copies);
  Location loc = loop.getLoc();
  Values tested = whileTest(frame, loop, local, states, copies);
  OpBuilder &b = in(frame);
  for (Value &value : tested)
    value = widen(frame, value, lanes);
  ValueRange handed = ValueRange(tested).drop_front();
  Value any =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, tested[0]);
  auto branch = scf::IfOp::create(b, loc, handed.getTypes(), any, true);
  Anchor anchor(frame, branch);
  Frame some = Frame::inside(frame, branch.thenBlock());
  states.truncate(loop.getInits().size());
  llvm::append_range(states, handed);
  states.push_back(tested[0]);
  Values left = lanesLoop(some, loop, local, states, copies);
  scf::YieldOp::create(in(some), loc, left);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, handed);
  return Values(branch.getResults());
}

/// The lanes whose own bounds do not leave out this round.
Value Emitter::withinBounds(Frame &body, Value at, Value lower, Value upper) {
  in(body);
  Location loc = at.getLoc();
  unsigned lanes = std::max(lanesOf(lower), lanesOf(upper));
  at = widen(body, at, lanes);
  Value low = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, at,
                                    widen(body, lower, lanes));
  Value high = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     at, widen(body, upper, lanes));
  return both(body, low, high);
}

/// The least or the largest lane.
Value Emitter::extremeLane(Frame &frame, Value value, bool largest) {
  in(frame);
  if (lanesOf(value) == 1)
    return value;
  return vector::ReductionOp::create(builder, value.getLoc(),
                                     largest ? vector::CombiningKind::MAXSI
                                             : vector::CombiningKind::MINSI,
                                     value);
}

/// A counted loop runs as often as any lane needs.
Emitter::Values Emitter::countedLoop(Frame &frame, Operation *op, Local &local,
                                     Copies copies) {
  auto loop = cast<scf::ForOp>(op);
  unsigned lanes = lanesInside(frame, op, local);
  Location loc = op->getLoc();
  Value lower = operand(frame, loop.getLowerBound(), local, copies);
  Value upper = operand(frame, loop.getUpperBound(), local, copies);
  Value by = operand(frame, loop.getStep(), local, copies);
  Values states;
  for (Value init : loop.getInitArgs())
    states.push_back(operand(frame, init, local, copies));
  for (Value &value : states)
    value = widen(frame, value, lanes);
  bool uniform = lanesOf(lower) == 1 && lanesOf(upper) == 1;
  if (lanesOf(by) > 1 || (!uniform && !matchPattern(by, m_One()))) {
    unsupported(op, builder.getI64Type(),
                "has a step, and bounds that differ between neighbours");
    return states;
  }
  Value first = extremeLane(frame, lower, false);
  Value last = extremeLane(frame, upper, true);
  auto made = scf::ForOp::create(in(frame), loc, first, last, by, states);
  if (states.empty())
    made.getBody()->getTerminator()->erase();
  Frame body = Frame::inside(frame, made.getBody());
  Anchor anchor(frame, made);
  if (!uniform)
    body.active = withinBounds(body, made.getInductionVar(), lower, upper);
  Values arguments{made.getInductionVar()};
  llvm::append_range(arguments, made.getRegionIterArgs());
  Values stepped =
      regionValues(body, loop.getRegion(), local, arguments, copies);
  for (Value &value : stepped)
    value = widen(body, value, lanes);
  if (!uniform)
    stepped = select(body, body.active, stepped, made.getRegionIterArgs());
  scf::YieldOp::create(in(body), loc, stepped);
  return Values(made.getResults());
}
