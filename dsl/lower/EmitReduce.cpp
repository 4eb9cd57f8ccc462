// Reductions: shared loops, several accumulators, merging across lanes.
#include "dsl/lower/Emitter.h"
#include "dsl/schedule/Ascending.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

/// The lanes of an axis that `op` reduces; 1 where none has any.
static unsigned reducedLanes(const Frame &frame, const KernelModel &model,
                             qn::ReduceOp op) {
  for (auto name : op.getAxes().getAsRange<StringAttr>())
    if (const Binding *binding = frame.find(model.axisOf(name));
        binding && binding->lanes > 1)
      return binding->lanes;
  return 1;
}

/// Whether `op` counts what holds. Where lanes have masks their bits are
/// counted, so that such a state is one number for all lanes.
static bool countsMasks(qn::ReduceOp op, const TargetInfo &target) {
  Block &step = op.getStep().front();
  if (!target.hasMask || op.getInits().size() != 1 ||
      step.getNumArguments() != 2 ||
      !step.getArgument(1).getType().isInteger(1))
    return false;
  auto sum = step.getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (!sum || sum.getLhs() != step.getArgument(0))
    return false;
  auto one = sum.getRhs().getDefiningOp<arith::ExtUIOp>();
  return one && one.getIn() == step.getArgument(1);
}

/// Reductions over the same axes that need the same earlier results.
ReductionGroup Emitter::groupOf(Frame &frame, qn::ReduceOp op) {
  ReductionGroup group;
  const ValueFacts &facts = model.factsOf(op->getResult(0));
  for (qn::ReduceOp other : model.reductions) {
    const ValueFacts &its = model.factsOf(other->getResult(0));
    bool made = frame.values.contains(
        {other->getResult(0).getAsOpaquePointer(), Copies(0)});
    if (other == op ||
        (!made && other.getAxes() == op.getAxes() && its.axes == facts.axes &&
         its.rank == facts.rank && other.getPortable() == op.getPortable() &&
         other.getOrdered() == op.getOrdered() &&
         wanted.contains(other.getOperation())))
      group.members.push_back(other);
  }
  group.outer = copiesOf(frame, facts.axes);
  planLoops(frame, group);
  return group;
}

/// The axes of a window that decide together with the lanes what lies inside:
/// masks are made once for all of the others.
AxisSet Emitter::masking(const Frame &frame, qn::ReduceOp op) const {
  const Binding *lane = laneOf(frame, model.axesOf(op->getResult(0)));
  AxisSet axes;
  if (lane && !op.getPortable())
    for (Value input : op.getInputs())
      axes |= boundingPartners(model, input, axisBit(lane->axis));
  return axes;
}

/// The loop whose lanes are reduced.
AxisPlan Emitter::innerPlan(Frame &frame, ReductionGroup &group,
                            unsigned lane) {
  AxisPlan plan = lanePlan(frame, lane, /*reduces=*/true);
  if (group.members.front().getPortable()) {
    // Only of the rows' own axis is it known to be short.
    bool isShort = plan.once && static_cast<int>(lane) == launch->lane;
    plan = AxisPlan::portable(lane);
    plan.once = isShort;
  }
  if (plan.once) {
    bool isFirst = llvm::all_of(group.members, [&](qn::ReduceOp op) {
      return model.factsOf(op->getResult(0)).rank == 1;
    });
    RowOrder order = isFirst ? launch->firstRows : RowOrder::InTurns;
    group.byRows = order != RowOrder::InTurns;
    plan.once = plan.fixed || order != RowOrder::Whole;
  }
  // So many chains need none beside them.
  constexpr unsigned manyChains = 8;
  if (!team && group.outer.size() >= manyChains)
    plan.copies = 1;
  return plan;
}

/// The axes in their written order, the lane axis innermost.
void Emitter::planLoops(Frame &frame, ReductionGroup &group) {
  qn::ReduceOp op = group.members.front();
  AxisSet set = model.axesOf(op.getAxes());
  AxisSet around = model.axesOf(op->getResult(0));
  int lane = laneOf(frame, around) ? -1 : laneAxis(frame, set);
  for (qn::ReduceOp member : group.members)
    valid &= scansBehind(member.getOperands(), set, group.scans);
  if (op.getOrdered())
    return planOrdered(frame, group);
  if (!group.scans.empty())
    lane = -1;
  int last = lane;
  if (!group.scans.empty()) {
    last = model.axisOf(group.scans[0].getAxis());
  } else if (op.getPortable()) {
    last = model.axisOf(cast<StringAttr>(op.getAxes().getValue().back()));
    group.inTurns = laneOf(frame, around) || hasAxis(model.unevenAxes(), last);
    lane = group.inTurns ? -1 : last;
  }
  bool isFree = group.scans.empty() && !op.getPortable();
  AxisSet outer = isFree ? masking(frame, op) : AxisSet();
  for (bool isOuter : {true, false})
    for (auto name : op.getAxes().getAsRange<StringAttr>())
      if (unsigned axis = model.axisOf(name);
          static_cast<int>(axis) != last && hasAxis(outer, axis) == isOuter)
        group.loops.push_back({AxisPlan{.axis = axis}, {}, {}});
  if (!group.scans.empty())
    group.loops.push_back(
        {AxisPlan{.axis = unsigned(last),
                  .shared = team && team->size > 1 && !isOneThread(frame)},
         {},
         {},
         group.scans[0].getReverse()});
  if (group.inTurns)
    group.loops.push_back({AxisPlan{.axis = unsigned(last)}, {}, {}});
  if (lane >= 0) {
    AxisPlan plan = innerPlan(frame, group, lane);
    group.loops.push_back({plan, {}, {}});
    group.inner = plan.copies;
    group.lanes = true;
  }
  group.ascends =
      isFree && !target.isGpu() &&
      llvm::equal(group.loops, op.getAxes().getAsRange<StringAttr>(),
                  [&](const LoopSpec &loop, StringAttr name) {
                    return loop.plan.axis == model.axisOf(name);
                  });
}

/// Accumulators lie by member, by copy (outer, then inner), by state; where the
/// rest of a lane loop runs element by element, it has its own behind them.
Emitter::Values Emitter::initialStates(Frame &frame,
                                       const ReductionGroup &group) {
  Values states;
  bool apart = group.lanes && !group.inOrder;
  unsigned lanes = apart ? group.loops.back().plan.lanes : 1;
  for (qn::ReduceOp op : group.members) {
    const Binding *around = laneOf(frame, model.axesOf(op->getResult(0)));
    unsigned own = countsMasks(op, target) ? 1 : lanes;
    unsigned width = around ? around->lanes : own;
    for (Copies copy : group.outer)
      for (unsigned inner = 0; inner < group.inner; ++inner)
        for (Value init : op.getInits())
          states.push_back(wide(frame, init, copy, width));
    if (separateTail(group))
      for (Copies copy : group.outer)
        for (Value init : op.getInits())
          states.push_back(emit(frame, init, copy));
  }
  return states;
}

bool Emitter::separateTail(const ReductionGroup &group) const {
  if (!group.lanes || group.inOrder || target.hasMask)
    return false;
  const AxisPlan &last = group.loops.back().plan;
  return last.lanes > 1 && !last.fixed;
}

/// One iteration of the innermost loop for every accumulator it feeds.
void Emitter::step(Frame &frame, const ReductionGroup &group, Values &states) {
  const Binding *inner =
      group.lanes ? frame.find(group.loops.back().plan.axis) : nullptr;
  bool alone = inner && inner->lanes == 1 && separateTail(group);
  // All lanes have made as many steps wherever a step has no mask, where the
  // rest of the only loop comes last.
  bool isEven =
      !group.lanes || (group.loops.size() == 1 && !isCut(group.loops[0]));
  unsigned at = 0;
  for (qn::ReduceOp op : group.members) {
    unsigned width = op.getInits().size();
    unsigned used = inner ? inner->copies : 1;
    unsigned regular = group.outer.size() * group.inner * width;
    MutableArrayRef<Value> all(states);
    Local known;
    if (group.ascends)
      for (auto [test, holds] : ascendingTests(model, op))
        known[test] = arith::ConstantOp::create(in(frame), op.getLoc(),
                                                builder.getBoolAttr(holds));
    for (auto [number, copy] : llvm::enumerate(group.outer)) {
      SmallVector<Copies> copies(used, copy);
      for (unsigned unrolled = 1; unrolled < used; ++unrolled)
        copies[unrolled] |= unrolled << (8 * inner->slot);
      if (group.inOrder) {
        stepInOrder(frame, op, copies, all.slice(at + number * width, width));
        continue;
      }
      Values even;
      for (auto [unrolled, which] : llvm::enumerate(copies)) {
        unsigned place = alone ? at + regular + number * width
                               : at + (number * group.inner + unrolled) * width;
        MutableArrayRef<Value> state = all.slice(place, width);
        if (unrolled == 0 && !alone && isEven)
          even = evenStates(frame, op, which, state);
        stepOne(frame, op, which, state, even, known);
      }
    }
    at += regular + (separateTail(group) ? group.outer.size() * width : 0);
  }
  keep(frame, group);
}

/// What holds for `op` to take an element.
Value Emitter::maskOf(Frame &frame, qn::ReduceOp op, Copies copies) {
  Value mask;
  if (op.getWhere())
    mask = emit(frame, op.getWhere(), copies);
  for (auto name : op.getAxes().getAsRange<StringAttr>())
    if (const Binding *binding = frame.find(model.axisOf(name)))
      mask = both(frame, mask, binding->mask);
  return mask;
}

/// A state that is one number grows by how many of `lanes` hold.
void Emitter::stepCount(Frame &frame, qn::ReduceOp op, Copies copies,
                        Value &state, unsigned lanes) {
  Value held = wide(frame, op.getInputs().front(), copies, lanes);
  if (Value mask = maskOf(frame, op, copies))
    held = both(frame, held, widen(frame, mask, lanes));
  OpBuilder &b = in(frame);
  Type bits = VectorType::get({1}, b.getIntegerType(lanes));
  Value set = vector::BitCastOp::create(b, op.getLoc(), bits, held);
  set = vector::ExtractOp::create(b, op.getLoc(), set, 0);
  set = math::CtPopOp::create(b, op.getLoc(), set);
  if (set.getType() != state.getType())
    set = arith::ExtUIOp::create(b, op.getLoc(), state.getType(), set);
  state = arith::AddIOp::create(b, op.getLoc(), state, set);
}

/// The states that a step makes of themselves and constants, as those of
/// `moments` count: such a one is a number where all lanes take each step, and
/// what is divided by it is multiplied. Null for the others.
Emitter::Values Emitter::evenStates(Frame &frame, qn::ReduceOp op,
                                    Copies copies, ArrayRef<Value> state) {
  if (lanesOf(state.front()) == 1 || maskOf(frame, op, copies))
    return {};
  Values even;
  for (bool isEven : model.evenStates(op)) {
    Value number;
    if (isEven)
      number = vector::ExtractOp::create(in(frame), op.getLoc(),
                                         state[even.size()], 0);
    even.push_back(number);
  }
  return even;
}

void Emitter::stepOne(Frame &frame, qn::ReduceOp op, Copies copies,
                      MutableArrayRef<Value> state, ValueRange even,
                      const Local &known) {
  unsigned lanes = lanesOf(state.front());
  if (unsigned reduced = reducedLanes(frame, model, op);
      lanes < reduced && countsMasks(op, target))
    return stepCount(frame, op, copies, state.front(), reduced);
  Values stepped;
  // `s + a * b` is one rounding where the order is free and the target can; but
  // of elements that are kept both factors would be kept, or made again.
  Value input = op.getInputs().front();
  bool isKept =
      (frame.guards && !input.hasOneUse()) || buffered.contains(input);
  if (auto factors = sumOfProducts(op); factors && target.hasFma && !isKept) {
    Value a = wide(frame, factors->left, copies, lanes);
    Value b = wide(frame, factors->right, copies, lanes);
    stepped.push_back(
        math::FmaOp::create(in(frame), op.getLoc(), a, b, state[0]));
  } else {
    Values arguments(state.begin(), state.end());
    for (auto [argument, number] : llvm::zip(arguments, even))
      if (number)
        argument = number;
    for (Value input : op.getInputs())
      arguments.push_back(wide(frame, input, copies, lanes));
    stepped = regionValues(frame, op.getStep(), known, arguments, copies);
  }
  if (Value mask = maskOf(frame, op, copies))
    stepped = select(frame, mask, stepped, Values(state.begin(), state.end()));
  for (auto [old, now] : llvm::zip(state, stepped))
    old = widen(frame, now, lanes);
}

/// The lower or the upper half of every segment of a vector, or of two.
static Value halves(OpBuilder &b, ArrayRef<Value> from, unsigned segment,
                    bool upper) {
  Value first = from.front(), last = from.back();
  unsigned lanes = lanesOf(first);
  if (lanes == 2 && from.size() == 1)
    return vector::ExtractOp::create(b, first.getLoc(), first, upper);
  SmallVector<std::int64_t> which;
  for (unsigned lane = 0; lane != lanes * from.size(); ++lane)
    if ((lane % segment >= segment / 2) == upper)
      which.push_back(lane);
  return vector::ShuffleOp::create(b, first.getLoc(), first, last, which);
}

/// Halves vectors of states until each is one element. Two vectors become one
/// that has a segment for each, as long as there are two; the order of merging
/// is every state's own.
SmallVector<Emitter::Values> Emitter::mergeLanes(Frame &frame, qn::ReduceOp op,
                                                 SmallVector<Values> states) {
  unsigned lanes = lanesOf(states.front().front()), count = states.size();
  unsigned segment = lanes;
  for (; segment > 1; segment /= 2) {
    unsigned together = states.size() % 2 == 0 ? 2 : 1;
    SmallVector<Values> merged;
    for (unsigned at = 0; at != states.size(); at += together) {
      Values both;
      for (bool upper : {false, true})
        for (unsigned part = 0; part != states[at].size(); ++part) {
          SmallVector<Value, 2> from;
          for (unsigned i = 0; i != together; ++i)
            from.push_back(states[at + i][part]);
          both.push_back(halves(in(frame), from, segment, upper));
        }
      merged.push_back(inlineRegion(frame, op.getMerge(), both, 0));
    }
    states = std::move(merged);
  }
  if (states.size() == count)
    return states;
  if (states.size() == 1)
    for (auto [result, all] : llvm::zip(op->getResults(), states.front()))
      frame.values[{result.getAsOpaquePointer(), allBeside}] = all;
  SmallVector<Values> each(count);
  unsigned held = count / states.size();
  for (auto [number, state] : llvm::enumerate(each))
    for (Value value : states[number / held])
      state.push_back(vector::ExtractOp::create(in(frame), op.getLoc(), value,
                                                number % held));
  return each;
}

/// Merges accumulators and lanes and notes the results.
void Emitter::finish(Frame &frame, const ReductionGroup &group,
                     Values &states) {
  bool isShared = llvm::any_of(
      group.loops, [](const LoopSpec &loop) { return loop.plan.shared; });
  unsigned at = 0;
  for (qn::ReduceOp op : group.members) {
    unsigned width = op.getInits().size();
    unsigned regular = group.outer.size() * group.inner * width;
    auto take = [&](unsigned place) {
      return Values(ArrayRef<Value>(states).slice(place, width));
    };
    auto merge = [&](Values into, Values other) {
      llvm::append_range(into, other);
      return inlineRegion(frame, op.getMerge(), into, 0);
    };
    SmallVector<Values> results;
    for (unsigned number = 0; number < group.outer.size(); ++number) {
      unsigned place = at + number * group.inner * width;
      SmallVector<Values> parts;
      for (unsigned inner = 0; inner < group.inner; ++inner)
        parts.push_back(take(place + inner * width));
      for (; parts.size() > 1; parts.resize(parts.size() / 2))
        for (unsigned i = 0; i < parts.size() / 2; ++i)
          parts[i] = merge(parts[i], parts[i + parts.size() / 2]);
      results.push_back(std::move(parts.front()));
    }
    if (group.lanes && !group.inOrder && group.loops.back().plan.lanes > 1)
      results = mergeLanes(frame, op, std::move(results));
    for (auto [number, copy] : llvm::enumerate(group.outer)) {
      Values &result = results[number];
      if (separateTail(group))
        result = merge(result, take(at + regular + number * width));
      if (isShared)
        result = mergeTeam(frame, op, result);
      for (auto [of, value] : llvm::zip(op->getResults(), result))
        frame.values[{of.getAsOpaquePointer(), copy}] = value;
    }
    at += regular + (separateTail(group) ? group.outer.size() * width : 0);
  }
}

/// State by state; both lie as `initialStates` says.
Emitter::Values Emitter::mergeStates(Frame &frame, const ReductionGroup &group,
                                     ValueRange left, ValueRange right) {
  Values merged;
  for (qn::ReduceOp op : group.members) {
    unsigned width = op.getInits().size();
    for (std::size_t copy = 0; copy < group.outer.size(); ++copy) {
      Values both(left.slice(merged.size(), width));
      llvm::append_range(both, right.slice(merged.size(), width));
      llvm::append_range(merged, inlineRegion(frame, op.getMerge(), both, 0));
    }
  }
  return merged;
}

void Emitter::loops(Frame &frame, const ReductionGroup &group, Values &states) {
  if (slidingLoops(frame, group, states))
    return;
  if (needsRuns(group))
    return inRuns(frame, group, states);
  nestScans(frame, group.loops, group.scans, states,
            [&](Frame &inner, Values &now) { step(inner, group, now); });
}

Emitter::Values Emitter::allStates(Frame &frame, ReductionGroup &group) {
  Values states;
  if (shortTree(frame, group, states))
    return states;
  if (group.byRows)
    return rowAfterRow(
        group, [&](ReductionGroup &row) { return allStates(frame, row); });
  if (group.inTurns)
    return takeTurns(frame, group, 0, constant(frame, 0));
  states = initialStates(frame, group);
  if (Value test = interior(frame, group))
    inBothCases(frame, test, states,
                [&](Frame &side, Values &now) { loops(side, group, now); });
  else
    loops(frame, group, states);
  return states;
}

void Emitter::run(Frame &frame, ReductionGroup &group) {
  for (qn::ReduceOp member : group.members)
    running.insert(member);
  Values states = allStates(frame, group);
  finish(frame, group, states);
  for (qn::ReduceOp member : group.members)
    running.erase(member);
}

void Emitter::reduce(Frame &frame, qn::ReduceOp op) {
  ReductionGroup group = groupOf(frame, op);
  run(frame, group);
}

Emitter::Values Emitter::partialStates(Frame &frame,
                                       ArrayRef<qn::ReduceOp> members,
                                       const LoopSpec &split) {
  ReductionGroup group;
  llvm::append_range(group.members, members);
  group.outer.push_back(0);
  planLoops(frame, group);
  for (LoopSpec &loop : group.loops)
    if (loop.plan.axis == split.plan.axis) {
      loop.lower = split.lower;
      loop.upper = split.upper;
    }
  // A thread's own loop has several positions under way.
  AxisPlan &last = group.loops.back().plan;
  if (!group.lanes && last.axis == split.plan.axis && split.plan.copies > 1) {
    last.copies = split.plan.copies;
    group.inner = group.inOrder ? 1 : last.copies;
    group.lanes = true;
  }
  run(frame, group);
  Values states;
  for (qn::ReduceOp member : members)
    for (Value result : member->getResults())
      states.push_back(
          frame.values.lookup({result.getAsOpaquePointer(), Copies(0)}));
  return states;
}
