// Reductions whose states are merged in the order of their elements.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// The axes in their written order. Lanes run along the last one; the threads
/// of a team have neighbours along the first. A portable one has neither.
void Emitter::planOrdered(Frame &frame, ReductionGroup &group) {
  qn::ReduceOp op = group.members.front();
  AxisSet around = model.axesOf(op->getResult(0));
  group.inOrder = true;
  for (auto name : op.getAxes().getAsRange<StringAttr>())
    group.loops.push_back({AxisPlan{.axis = model.axisOf(name)}, {}, {}});
  // IR generation sees to it that scans run along the last axis, forward.
  if (op.getPortable() || !group.scans.empty() || laneOf(frame, around))
    return;
  AxisPlan &last = group.loops.back().plan;
  constexpr unsigned atOnce = 4; // reads that wait for each other
  if (!team) {
    if (laneAxis(frame, model.axesOf(op.getAxes())) != int(last.axis))
      return;
    last = lanePlan(frame, last.axis, /*reduces=*/true);
  } else {
    if (team->size == 1 || isOneThread(frame))
      return;
    AxisPlan &first = group.loops.front().plan;
    first.shared = first.chunks = true;
    last.copies = group.loops.size() == 1 ? atOnce : 1;
  }
  group.lanes = true;
}

/// Merges each state with its right neighbour: `left` and `right` are the
/// halves of a row of states, or one vector twice, of which `lanes` count.
Emitter::Values Emitter::mergeNeighbours(Frame &frame, qn::ReduceOp op,
                                         const Values &left,
                                         const Values &right, unsigned lanes) {
  Values both;
  for (unsigned odd : {0, 1})
    for (auto [low, high] : llvm::zip(left, right)) {
      OpBuilder &b = in(frame);
      if (lanes == 2 && low == high) {
        both.push_back(vector::ExtractOp::create(b, op.getLoc(), low, odd));
        continue;
      }
      SmallVector<std::int64_t> which;
      for (unsigned lane = odd; lane < lanes; lane += 2)
        which.push_back(lane);
      both.push_back(
          vector::ShuffleOp::create(b, op.getLoc(), low, high, which));
    }
  return inlineRegion(frame, op.getMerge(), both, 0);
}

/// Takes the elements of some copies, one behind the other. Vectors make a
/// state of each element, which are merged two by two; then `state` takes the
/// result.
void Emitter::stepInOrder(Frame &frame, qn::ReduceOp op,
                          ArrayRef<Copies> copies,
                          MutableArrayRef<Value> state) {
  unsigned axis =
      model.axisOf(cast<StringAttr>(op.getAxes().getValue().back()));
  unsigned lanes = frame.find(axis)->lanes;
  if (lanes == 1 || isa<VectorType>(state.front().getType())) {
    for (Copies copy : copies)
      stepOne(frame, op, copy, state);
    return;
  }
  SmallVector<Values> parts;
  for (Copies copy : copies) {
    Values own;
    for (Value init : op.getInits())
      own.push_back(wide(frame, init, copy, lanes));
    stepOne(frame, op, copy, own);
    parts.push_back(std::move(own));
  }
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (unsigned i = 0; i < parts.size() / 2; ++i)
      parts[i] =
          mergeNeighbours(frame, op, parts[2 * i], parts[2 * i + 1], 2 * lanes);
  for (; lanes > 1; lanes /= 2)
    parts[0] = mergeNeighbours(frame, op, parts[0], parts[0], lanes);
  Values both(state.begin(), state.end());
  llvm::append_range(both, parts[0]);
  llvm::copy(inlineRegion(frame, op.getMerge(), both, 0), state.begin());
}
