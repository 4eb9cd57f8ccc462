// The tree of a portable reduction where there are no 64 lanes for it: without
// any, one by one, or without those that short rows leave empty.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// The tree of a portable reduction without its lanes: position `turn` of every
/// 64 makes a state, and the states are merged by halves, one loop of two
/// rounds for each bit of `turn`.
Emitter::Values Emitter::takeTurns(Frame &frame, ReductionGroup &group,
                                   unsigned bit, Value turn) {
  unsigned turns = Schedule::portableLoop(0).lanes;
  Values states = initialStates(frame, group);
  if (1u << bit == turns) {
    group.loops.back().turn = turn;
    group.loops.back().turns = turns;
    nest(frame, group.loops, states,
         [&](Frame &inner, Values &now) { step(inner, group, now); });
    return states;
  }
  Value zero = constant(frame, 0), one = constant(frame, 1);
  Value two = constant(frame, 2), weight = constant(frame, 1 << bit);
  Location loc = turn.getLoc();
  auto loop = scf::ForOp::create(in(frame), loc, zero, two, one, states);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame inner = Frame::inside(frame, loop.getBody());
  Value round = loop.getInductionVar();
  OpBuilder &b = in(inner);
  Value added = arith::MulIOp::create(b, loc, round, weight);
  added = arith::AddIOp::create(b, loc, turn, added);
  Values now = takeTurns(inner, group, bit + 1, added);
  Values merged = mergeStates(inner, group, loop.getRegionIterArgs(), now);
  Value isFirst = arith::CmpIOp::create(in(inner), loc,
                                        arith::CmpIPredicate::eq, round, zero);
  Values chosen = select(inner, isFirst, now, merged);
  scf::YieldOp::create(in(inner), loc, chosen);
  frame.anchor = anchor;
  return Values(loop.getResults());
}

/// Whether to merge with first states changes nothing: zeros that are added,
/// ones that are multiplied, limits. A sum that began with a zero and had
/// numbers added is no zero below zero.
static bool settles(Operation *merge, Operation *step, Value init) {
  if (isa<arith::AddFOp>(merge))
    return matchPattern(init, m_AnyZeroFloat()) &&
           isa_and_nonnull<arith::AddFOp>(step);
  if (isa<arith::AddIOp>(merge))
    return matchPattern(init, m_Zero());
  if (isa<arith::MulFOp, arith::MulIOp>(merge))
    return matchPattern(init, m_OneFloat()) || matchPattern(init, m_One());
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
             arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
             arith::OrIOp>(merge);
}

/// Whether that holds for each state, merged by itself.
static bool allSettle(qn::ReduceOp op) {
  Block &merge = op.getMerge().front();
  unsigned count = op.getInits().size();
  Operation *merged = merge.getTerminator();
  Operation *stepped = op.getStep().front().getTerminator();
  for (unsigned number = 0; number != count; ++number) {
    Operation *by = merged->getOperand(number).getDefiningOp();
    Operation *step = stepped->getOperand(number).getDefiningOp();
    if (!by || by->getNumOperands() != 2 ||
        by->getOperand(0) != merge.getArgument(number) ||
        by->getOperand(1) != merge.getArgument(count + number) ||
        !settles(by, step, op.getInits()[number]))
      return false;
  }
  return true;
}

/// Whether the rows are side by side and empty lanes can be left out.
static bool mayBeShort(const ReductionGroup &group) {
  if (!group.lanes || !group.scans.empty())
    return false;
  const AxisPlan &plan = group.loops.back().plan;
  return plan.fixed && plan.once && llvm::all_of(group.members, allSettle);
}

/// The states of the 16 lanes that the tree of 64 comes to: those of the first
/// elements, merged with those of the others only where there are others. False
/// where all 64 are needed.
bool Emitter::shortTree(Frame &frame, ReductionGroup &group, Values &states) {
  if (!mayBeShort(group))
    return false;
  constexpr unsigned lanes = 16, pieces = 4;
  LoopSpec &loop = group.loops.back();
  loop.plan.lanes = lanes;
  auto piece = [&](Frame &at, unsigned number) {
    loop.lower = constant(at, number * lanes);
    Values made = initialStates(at, group);
    loops(at, group, made);
    return made;
  };
  Values first = piece(frame, 0);
  Location loc = model.kernel.getLoc();
  Value extent = this->extent(frame, loop.plan.axis);
  Value most = constant(frame, lanes);
  OpBuilder &b = in(frame);
  Value isLonger =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, extent, most);
  auto branch = scf::IfOp::create(b, loc, ValueRange(first).getTypes(),
                                  isLonger, /*withElseRegion=*/true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame longer = Frame::inside(frame, branch.thenBlock());
  std::array<Values, pieces> all{first};
  for (unsigned number = 1; number != pieces; ++number)
    all[number] = piece(longer, number);
  Values even = mergeStates(longer, group, all[0], all[2]);
  Values odd = mergeStates(longer, group, all[1], all[3]);
  Values whole = mergeStates(longer, group, even, odd);
  scf::YieldOp::create(in(longer), loc, whole);
  Frame shorter = Frame::inside(frame, branch.elseBlock());
  scf::YieldOp::create(in(shorter), loc, first);
  frame.anchor = anchor;
  states.assign(branch.result_begin(), branch.result_end());
  return true;
}
