// Long reductions in runs: what many steps made is merged into states of its
// own, so that rounding does not grow with the length.
#include "dsl/cost/Parameters.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// What `make` makes where `condition` holds, else `otherwise`.
static Emitter::Values
either(OpBuilder &b, Frame &frame, Value condition, ValueRange otherwise,
       llvm::function_ref<Emitter::Values(Frame &)> make) {
  Location loc = condition.getLoc();
  auto branch = scf::IfOp::create(b, loc, otherwise.getTypes(), condition,
                                  /*withElseRegion=*/true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  Emitter::Values made = make(yes);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, made);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  frame.anchor = anchor;
  return {branch.result_begin(), branch.result_end()};
}

/// Whether the accumulators of a group take one element after the other: those
/// with lanes along the reduced axis take a part of it each, and are merged.
bool Emitter::needsRuns(const ReductionGroup &group) const {
  if (target.isGpu() || group.lanes || group.inTurns || group.loops.empty() ||
      !group.scans.empty() || group.outer.size() > cost::runMostStates)
    return false;
  const LoopSpec &last = group.loops.back();
  qn::ReduceOp op = group.members.front();
  return !op.getPortable() && !op.getOrdered() && !isCut(last) &&
         !model.localAxis(last.plan.axis) && !limits.contains(last.plan.axis) &&
         llvm::any_of(group.members, KernelModel::addsRounding);
}

/// Loops over whole runs, then what is left of them. Carried are the states of
/// the runs merged so far, those of the run under way, how far it is, and
/// whether any was merged: short reductions merge nothing.
void Emitter::inRuns(Frame &frame, const ReductionGroup &group,
                     Values &states) {
  unsigned count = states.size();
  Location loc = model.kernel.getLoc();
  Values carried = states;
  llvm::append_range(carried, states);
  carried.push_back(constant(frame, 0));
  carried.push_back(
      arith::ConstantOp::create(in(frame), loc, builder.getBoolAttr(false)));
  nest(frame, ArrayRef(group.loops).drop_back(), carried,
       [&](Frame &at, Values &now) { runsOf(at, group, states, now); });
  auto merged = ArrayRef<Value>(carried).take_front(count);
  auto rest = ArrayRef<Value>(carried).slice(count, count);
  states = either(in(frame), frame, carried.back(), rest, [&](Frame &at) {
    return mergeStates(at, group, merged, rest);
  });
}

/// The innermost loop, at most a run at a time.
void Emitter::runsOf(Frame &frame, const ReductionGroup &group,
                     ValueRange fresh, Values &carried) {
  LoopSpec run = group.loops.back();
  unsigned count = fresh.size();
  Value length = constant(frame, cost::runSteps);
  Value lower = run.lower ? run.lower : constant(frame, 0);
  Value upper = run.upper ? run.upper : extent(frame, run.plan.axis);
  Value isOne = arith::ConstantOp::create(in(frame), model.kernel.getLoc(),
                                          builder.getBoolAttr(true));
  Value none = constant(frame, 0);
  Location loc = model.kernel.getLoc();
  auto made = scf::ForOp::create(in(frame), loc, lower, upper, length, carried);
  Operation *anchor = std::exchange(frame.anchor, made);
  Frame inner = Frame::inside(frame, made.getBody());
  ValueRange before = made.getRegionIterArgs();
  run.lower = made.getInductionVar();
  OpBuilder &b = in(inner);
  Value left = arith::SubIOp::create(b, loc, upper, run.lower);
  Value taken = arith::MinSIOp::create(b, loc, left, length);
  run.upper = arith::AddIOp::create(b, loc, run.lower, taken);
  Values part(before.slice(count, count));
  auto each = [&](Frame &at, Values &now) { step(at, group, now); };
  nest(inner, run, part, [&](Frame &at, Values &now) {
    Value test = inside.empty() ? interior(at, group) : Value();
    if (!test)
      return each(at, now);
    Binding turn = *at.find(run.plan.axis);
    inBothCases(at, test, now, [&](Frame &side, Values &of) {
      side.bind(turn); // what moves with it is made on either side
      each(side, of);
    });
  });
  OpBuilder &e = in(inner);
  Value steps = arith::AddIOp::create(e, loc, before[2 * count], taken);
  Value isWhole =
      arith::CmpIOp::create(e, loc, arith::CmpIPredicate::sge, steps, length);
  Values on(before.take_front(count));
  llvm::append_range(on, part);
  on.append({steps, before.back()});
  on = either(in(inner), inner, isWhole, on, [&](Frame &at) {
    Values next = mergeStates(at, group, before.take_front(count), part);
    llvm::append_range(next, fresh);
    next.append({none, isOne});
    return next;
  });
  scf::YieldOp::create(in(inner), loc, on);
  frame.anchor = anchor;
  carried.assign(made.result_begin(), made.result_end());
}
