// Windows that reach over no border: one test in front of the loops instead of
// one for every position in them.
#include "dsl/lower/Emitter.h"
#include "dsl/schedule/Windows.h"
#include "dsl/threads/Ranges.h"

#include "dsl/dialect/Behind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Whether a position is a sum of multiples of the axes `moving`, none of them
/// multiplied by another.
static bool isAffine(const KernelModel &model, Value position,
                     const AxisSet &moving) {
  auto moves = [&](Value value) { return bool(model.axesOf(value) & moving); };
  return holdsBehind(position, [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!moves(value) || isa_and_nonnull<qn::IndexOp, qn::AxisOp>(op))
      return Found::Yes;
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return Found::No;
    bool areBoth = moves(op->getOperand(0)) && moves(op->getOperand(1));
    return isa<arith::MulIOp>(op) && areBoth ? Found::No : Found::IfBehind;
  });
}

/// Steps and numbers of steps whose products, a few of them, are exact in 64
/// bits.
constexpr std::int64_t longestStep = 1 << 24, mostSteps = std::int64_t(1) << 35;

/// Whether a span of so many steps is exact.
static Value isExact(OpBuilder &b, Value each, Value steps, Value least,
                     Value most) {
  Location loc = each.getLoc();
  Value few = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                            steps, most);
  Value from = b.createOrFold<arith::AddIOp>(loc, each, least);
  Value twice = b.createOrFold<arith::AddIOp>(loc, least, least);
  Value isShort = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                from, twice);
  return b.createOrFold<arith::AndIOp>(loc, few, isShort);
}

/// The least and the largest value of a position over the loops of a group that
/// are not open yet and the copies around it.
Reach Emitter::reach(Frame &frame, const ReductionGroup &group, Value index) {
  Frame first = Frame::inside(frame, frame.block);
  first.anchor = frame.anchor;
  SmallVector<std::pair<Binding, Value>> spans;
  Location loc = index.getLoc();
  Value zero = constant(frame, 0), one = constant(frame, 1);
  for (const LoopSpec &loop : group.loops) {
    if (hasAxis(frame.bound, loop.plan.axis))
      continue;
    qn::AxisOp local = model.localAxis(loop.plan.axis);
    Value lower = local ? emit(frame, local.getLower(), 0) : zero;
    Value upper = local ? emit(frame, local.getUpper(), 0)
                        : extent(frame, loop.plan.axis);
    OpBuilder &b = in(frame);
    Value steps = arith::SubIOp::create(b, loc, upper, lower);
    steps = arith::SubIOp::create(b, loc, steps, one);
    Binding binding{.axis = loop.plan.axis, .position = lower};
    spans.push_back({binding, steps});
    first.bind(binding);
  }
  for (const Binding &binding : frame.bindings)
    if (binding.copies > 1 && binding.lanes == 1) {
      Value steps = constant(frame, binding.copies - 1);
      if (binding.last) {
        OpBuilder &b = in(frame);
        Value most =
            arith::SubIOp::create(b, loc, binding.last, binding.position);
        steps = arith::MinSIOp::create(b, loc, steps, most);
      }
      spans.push_back({binding, steps});
    }
  Reach range;
  range.low = range.high = emit(first, index, 0);
  for (auto [binding, steps] : spans) {
    std::optional<Value> each = laneStep(first, index, binding, 0);
    if (!each || !*each)
      continue;
    Value least = constant(first, longestStep);
    Value most = constant(first, mostSteps);
    range.fits =
        both(first, range.fits, isExact(in(first), *each, steps, least, most));
    OpBuilder &b = in(first);
    Value span = arith::MulIOp::create(b, loc, *each, steps);
    Value down = arith::MinSIOp::create(b, loc, span, zero);
    Value up = arith::MaxSIOp::create(b, loc, span, zero);
    range.low = arith::AddIOp::create(b, loc, range.low, down);
    range.high = arith::AddIOp::create(b, loc, range.high, up);
  }
  return range;
}

/// Whether the positions that do not move with the lanes are inside for all of
/// the loops of a group, or in the innermost one for this turn; null where
/// there is nothing to test.
Value Emitter::interior(Frame &frame, const ReductionGroup &group) {
  if (!launch->windows || !group.scans.empty() || group.lanes ||
      group.loops.empty() || model.kernel->hasAttr(keepsChecksAttribute))
    return Value();
  unsigned along = group.loops.back().plan.axis;
  AxisSet turn = hasAxis(frame.bound, along) ? axisBit(along) : AxisSet();
  AxisSet moving;
  for (const LoopSpec &loop : group.loops)
    moving |= axisBit(loop.plan.axis);
  for (const LoopSpec &loop : group.loops)
    if (qn::AxisOp local = model.localAxis(loop.plan.axis))
      if (model.axesOf(local.getLower()) | model.axesOf(local.getUpper()))
        return Value();
  for (const Binding &binding : frame.bindings)
    if (binding.copies > 1)
      moving |= axisBit(binding.axis);
  Value all;
  for (qn::ReduceOp op : group.members) {
    const Binding *lane = laneOf(frame, model.axesOf(op->getResult(0)));
    for (Value input : op.getInputs())
      eachBound(model, input, [&](qn::LoadOp load, unsigned number) {
        Value index = load.getIndices()[number];
        AxisSet axes = model.axesOf(index);
        if (!(axes & moving) || (lane && hasAxis(axes, lane->axis)) ||
            load->getBlock() != &model.kernel.block() ||
            turn & ~model.axesOf(load.getResult()) ||
            !isAffine(model, index, moving) ||
            !inside.insert({load, number}).second)
          return;
        Reach range = reach(frame, group, index);
        StringAttr name = load.getTensor().getType().getAxes()[number];
        Value size = extent(frame, model.axisOf(name));
        Value low = both(frame, inRange(frame, range.low, size), range.fits);
        all = both(frame, all,
                   both(frame, low, inRange(frame, range.high, size)));
      });
  }
  return all;
}

/// Code of a group twice: where all that `interior` tested is inside, and where
/// it may not be.
void Emitter::inBothCases(Frame &frame, Value test, Values &states, Body body) {
  auto branch = scf::IfOp::create(in(frame), model.kernel.getLoc(),
                                  ValueRange(states).getTypes(), test,
                                  /*withElseRegion=*/true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  for (bool isInside : {true, false}) {
    Frame side = Frame::inside(frame, isInside ? branch.thenBlock()
                                               : branch.elseBlock());
    Values now = states;
    body(side, now);
    scf::YieldOp::create(in(side), model.kernel.getLoc(), now);
    inside.clear();
  }
  frame.anchor = anchor;
  states.assign(branch.result_begin(), branch.result_end());
}
