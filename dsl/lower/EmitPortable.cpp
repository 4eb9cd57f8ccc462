// The tree of a portable reduction where there are no 64 lanes for it: without
// any, one by one, or without those that short rows leave empty.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// The tree of a portable reduction without its lanes: position `turn` of every
/// 64 makes a state, and the states are merged by halves, one loop of two
/// rounds for each bit of `turn`.
Emitter::Values Emitter::takeTurns(Frame &frame, ReductionGroup &group,
                                   unsigned bit, Value turn) {
  unsigned turns = AxisPlan::portable(0).lanes;
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

/// How many lanes a piece of the tree has, and how many pieces there are.
constexpr unsigned pieceLanes = 16, pieceCount = 4;

/// The states of one piece of the lanes.
Emitter::Values Emitter::pieceOfTree(Frame &frame, ReductionGroup group,
                                     unsigned number) {
  LoopSpec &loop = group.loops.back();
  loop.plan.lanes = pieceLanes;
  loop.lower = constant(frame, number * pieceLanes);
  Values states = initialStates(frame, group);
  loops(frame, group, states);
  return states;
}

/// The states of so many pieces, those of the first one known or not.
Emitter::Values Emitter::treeOf(Frame &frame, const ReductionGroup &group,
                                unsigned pieces, Values first) {
  SmallVector<Values> all{std::move(first)};
  all.resize(pieces);
  for (unsigned number = 0; number != pieces; ++number)
    if (all[number].empty())
      all[number] = pieceOfTree(frame, group, number);
  for (; all.size() > 1; all.resize(all.size() / 2))
    for (std::size_t low = 0, half = all.size() / 2; low != half; ++low)
      all[low] = mergeStates(frame, group, all[low], all[low + half]);
  return all.front();
}

/// What `longer` makes where rows have more than so many pieces, else
/// `shorter`.
Emitter::Values Emitter::byLength(Frame &frame, const ReductionGroup &group,
                                  unsigned pieces, Make longer, Make shorter) {
  Location loc = model.kernel.getLoc();
  Value extent = this->extent(frame, group.loops.back().plan.axis);
  Value most = constant(frame, std::int64_t(pieces) * pieceLanes);
  Value isLonger = arith::CmpIOp::create(
      in(frame), loc, arith::CmpIPredicate::ugt, extent, most);
  Values like = initialStates(frame, group);
  auto branch =
      scf::IfOp::create(in(frame), loc, ValueRange(like).getTypes(), isLonger,
                        /*withElseRegion=*/true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  for (bool isThen : {true, false}) {
    Frame inside =
        Frame::inside(frame, isThen ? branch.thenBlock() : branch.elseBlock());
    Values made = isThen ? longer(inside) : shorter(inside);
    scf::YieldOp::create(in(inside), loc, made);
  }
  frame.anchor = anchor;
  return {branch.result_begin(), branch.result_end()};
}

static Value rowOf(OpBuilder &b, Value room, Type type, LLVM::GEPArg row) {
  return LLVM::GEPOp::create(b, room.getLoc(), room.getType(), type, room, row);
}

/// The trees of rows of several lines, by a loop over the rows: straight code
/// LLVM orders so that the first line of every row is read before the others.
Emitter::Values Emitter::rowsByLoop(Frame &frame, const ReductionGroup &group,
                                    unsigned pieces) {
  Location loc = model.kernel.getLoc();
  unsigned axis = launch->axes.back().axis, count = group.outer.size();
  ReductionGroup row = group;
  row.byRows = false;
  row.outer = {0};
  Values rooms, states = initialStates(frame, row);
  for (Value state : states)
    rooms.push_back(room(frame, state.getType(), count));
  Value zero = constant(frame, 0), one = constant(frame, 1);
  Value end = constant(frame, count), first = position(frame, axis, 0);
  auto loop = scf::ForOp::create(in(frame), loc, zero, end, one);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame inner = Frame::inside(frame, loop.getBody());
  inner.anchor = loop.getBody()->getTerminator();
  Value number = loop.getInductionVar();
  Value place = arith::AddIOp::create(in(inner), loc, first, number);
  inner.bind(Binding{.axis = axis, .position = place});
  Values made = treeOf(inner, row, pieces, {});
  for (auto [room, state] : llvm::zip(rooms, made)) {
    Value to = rowOf(in(inner), room, state.getType(), number);
    LLVM::StoreOp::create(in(inner), loc, state, to);
  }
  frame.anchor = anchor;
  std::int32_t read = 0;
  return rowAfterRow(group, [&](const ReductionGroup &) {
    Values back;
    for (auto [room, state] : llvm::zip(rooms, states)) {
      Value from = rowOf(in(frame), room, state.getType(), read);
      back.push_back(
          LLVM::LoadOp::create(in(frame), loc, state.getType(), from));
    }
    ++read;
    return back;
  });
}

/// Rows with masks instead of loops, one after the other: of the pieces that
/// the longest may have, as many as there are.
Emitter::Values Emitter::maskedTree(Frame &frame, const ReductionGroup &group,
                                    unsigned pieces) {
  auto rows = [&](Frame &at) {
    if (pieces > 1 && group.outer.size() > 1)
      return rowsByLoop(at, group, pieces);
    return rowAfterRow(group, [&](const ReductionGroup &row) {
      return treeOf(at, row, pieces, {});
    });
  };
  if (pieces == pieceCount)
    return rows(frame);
  return byLength(
      frame, group, pieces,
      [&](Frame &at) { return maskedTree(at, group, 2 * pieces); }, rows);
}

/// The states of the 16 lanes that the tree of 64 comes to: those of the first
/// elements, merged with those of the others only where there are others. Rows
/// of little arithmetic have branches for all of them. False where all 64 are
/// needed.
bool Emitter::shortTree(Frame &frame, ReductionGroup &group, Values &states) {
  bool masked = group.byRows && target.hasMask;
  if (!mayBeShort(group) || masked != group.byRows)
    return false;
  LoopSpec &loop = group.loops.back();
  loop.masked = masked;
  loop.plan.lanes = pieceLanes;
  if (masked) {
    states = maskedTree(frame, group, 1);
    return true;
  }
  Values first = pieceOfTree(frame, group, 0);
  states = byLength(
      frame, group, 1,
      [&](Frame &at) { return treeOf(at, group, pieceCount, first); },
      [&](Frame &) { return first; });
  return true;
}
