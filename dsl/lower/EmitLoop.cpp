// Loops over axes: plain ones, and lanes with an unrolled part and a rest.
#include "dsl/lower/Anchor.h"
#include "dsl/lower/Emitter.h"
#include "dsl/schedule/Turned.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Every combination of copies of the unrolled axes among `axes`.
SmallVector<Copies> Emitter::copiesOf(const Frame &frame, AxisSet axes) const {
  SmallVector<Copies> all{0};
  Copies taken = 0; // axes that are walked as one share a slot
  for (const Binding &binding : frame.bindings) {
    Copies slot = Copies(255) << (8 * binding.slot);
    if (binding.copies == 1 || !hasAxis(axes, binding.axis) ||
        frame.find(binding.axis) != &binding || (taken & slot))
      continue;
    taken |= slot;
    SmallVector<Copies> more;
    for (Copies known : all)
      for (Copies copy = 0; copy < binding.copies; ++copy)
        more.push_back(known | copy << (8 * binding.slot));
    all = std::move(more);
  }
  return all;
}

void Emitter::nest(Frame &frame, ArrayRef<LoopSpec> loops, Values &states,
                   Body body) {
  if (loops.empty())
    return body(frame, states);
  LoopSpec loop = loops.front();
  bool isWhole = !loop.lower && !loop.upper;
  qn::AxisOp local = model.localAxis(loop.plan.axis);
  if (!loop.lower)
    loop.lower = local ? emit(frame, local.getLower(), 0) : constant(frame, 0);
  if (!loop.upper)
    loop.upper = limits.lookup(loop.plan.axis);
  if (!loop.upper)
    loop.upper = local ? emit(frame, local.getUpper(), 0)
                       : extent(frame, loop.plan.axis);
  if (isa<VectorType>(loop.lower.getType()) ||
      isa<VectorType>(loop.upper.getType())) {
    unsupported(local, builder.getI64Type(),
                "has bounds that differ between neighbouring elements");
    return;
  }
  if (loop.turn)
    loop.lower = arith::AddIOp::create(in(frame), loop.turn.getLoc(),
                                       loop.lower, loop.turn);
  if (isCut(loop))
    return cutLoop(frame, loop, isWhole && !limits.contains(loop.plan.axis),
                   loops.drop_front(), states, body);
  openLoop(frame, loop, loops.drop_front(), states, body);
}

/// A loop between bounds that are known.
void Emitter::openLoop(Frame &frame, const LoopSpec &loop,
                       ArrayRef<LoopSpec> rest, Values &states, Body body) {
  if (loop.plan.shared)
    return sharedLoop(frame, loop, rest, states, body);
  if (loop.plan.lanes > 1 || loop.plan.copies > 1)
    return laneLoop(frame, loop, rest, states, body);
  plainLoop(frame, loop, loop.lower, loop.upper, /*masked=*/false, rest, states,
            body);
}

/// How many positions a loop visits; bounds of a local axis may cross.
Value Emitter::lengthOf(Frame &frame, const LoopSpec &loop) {
  Value zero = constant(frame, 0);
  OpBuilder &b = in(frame);
  Location loc = model.kernel.getLoc();
  Value length = arith::SubIOp::create(b, loc, loop.upper, loop.lower);
  return model.localAxis(loop.plan.axis)
             ? Value(arith::MaxSIOp::create(b, loc, length, zero))
             : length;
}

/// How many of `length` positions come behind the unrolled part of a loop.
static Value leftOf(Emitter &emitter, Frame &frame, const AxisPlan &plan,
                    Value length) {
  Value by = emitter.constant(frame, std::int64_t(plan.lanes) * plan.copies);
  OpBuilder &b = emitter.in(frame);
  return arith::RemUIOp::create(b, length.getLoc(), length, by);
}

/// Where the unrolled part of a loop ends that leaves so many positions.
static Value middleOf(Emitter &emitter, Frame &frame, const LoopSpec &loop,
                      Value left) {
  Location loc = left.getLoc();
  Value one = loop.plan.repeats ? emitter.constant(frame, 1) : Value();
  OpBuilder &b = emitter.in(frame);
  Value middle = arith::SubIOp::create(b, loc, loop.upper, left);
  if (!one)
    return middle;
  Value several =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, left, one);
  return arith::SelectOp::create(b, loc, several, loop.upper, middle);
}

/// Lanes of a portable loop's rest that are worth a test: short rows fill few
/// of its 64.
constexpr unsigned pieceLanes = 16;

static Value shuffled(OpBuilder &b, Value left, Value right, unsigned first,
                      unsigned count) {
  auto which = llvm::to_vector(
      llvm::seq<std::int64_t>(first, std::int64_t(first) + count));
  return vector::ShuffleOp::create(b, left.getLoc(), left, right, which);
}

/// The states of a piece of the lanes; a state that is one number has none.
static Emitter::Values pieceOf(OpBuilder &b, ValueRange states,
                               unsigned first) {
  Emitter::Values piece(states);
  for (Value &state : piece)
    if (isa<VectorType>(state.getType()))
      state = shuffled(b, state, state, first, pieceLanes);
  return piece;
}

/// The states that pieces of equal length, two or more, are cut from.
static Emitter::Values wholeOf(OpBuilder &b,
                               SmallVector<Emitter::Values> pieces) {
  for (unsigned lanes = pieceLanes; pieces.size() > 1; lanes *= 2) {
    for (unsigned pair = 0; pair < pieces.size() / 2; ++pair) {
      Emitter::Values both(pieces[2 * pair + 1]);
      for (auto [low, high] : llvm::zip(pieces[2 * pair], both))
        if (isa<VectorType>(high.getType()))
          high = shuffled(b, low, high, 0, 2 * lanes);
      pieces[pair] = std::move(both);
    }
    pieces.resize(pieces.size() / 2);
  }
  return std::move(pieces.front());
}

/// The rest of a portable loop, all of it for short rows side by side: each
/// piece of its lanes that has elements left.
void Emitter::piecesLoop(Frame &frame, const LoopSpec &loop, Value lower,
                         ArrayRef<LoopSpec> rest, Values &states, Body body) {
  Location loc = model.kernel.getLoc();
  LoopSpec part = loop;
  part.plan.lanes = pieceLanes;
  Value by = constant(frame, pieceLanes);
  SmallVector<Values> pieces;
  for (unsigned first = 0; first < loop.plan.lanes; first += pieceLanes) {
    OpBuilder &b = in(frame);
    Value end = arith::AddIOp::create(b, loc, lower, by);
    Value upper = arith::MinSIOp::create(b, loc, end, loop.upper);
    Values piece = pieceOf(b, states, first);
    // A state that is one number goes from piece to piece.
    for (unsigned at = 0; first && at < piece.size(); ++at)
      if (!isa<VectorType>(piece[at].getType()))
        piece[at] = pieces.back()[at];
    plainLoop(frame, part, lower, upper, /*masked=*/true, rest, piece, body);
    pieces.push_back(std::move(piece));
    lower = end;
  }
  states = wholeOf(in(frame), std::move(pieces));
}

/// A turn without a loop around it.
void Emitter::maskedTurn(Frame &frame, const LoopSpec &loop,
                         ArrayRef<LoopSpec> rest, Values &states, Body body) {
  Frame inner = Frame::inside(frame, frame.block);
  inner.anchor = frame.anchor;
  unsigned lanes = loop.plan.lanes;
  inner.bind(Binding{.axis = loop.plan.axis,
                     .position = loop.lower,
                     .lanes = lanes,
                     .mask = laneMask(frame, loop.lower, loop.upper, lanes)});
  nest(inner, rest, states, body);
}

/// What is left behind the unrolled part, in copies as well; false where it has
/// none.
bool Emitter::restInCopies(Frame &frame, const LoopSpec &loop, Value lower,
                           ArrayRef<LoopSpec> rest, Values &states, Body body) {
  LoopSpec tail = loop;
  tail.lower = lower;
  if (std::exchange(tail.plan.repeatsRest, false)) {
    tail.plan.repeats = true;
    plainLoop(frame, tail, lower, loop.upper, /*masked=*/false, rest, states,
              body);
    return true;
  }
  unsigned fewer = std::exchange(tail.plan.copiesOfRest, 0);
  if (!fewer)
    return false;
  tail.plan.copies = fewer;
  tail.plan.copiesOfRest = fewer > 2 ? fewer / 2 : 0;
  laneLoop(frame, tail, rest, states, body);
  return true;
}

/// An unrolled loop, then one for the rest: masked where the target has masks,
/// else vector by vector and then element by element; rows that go past the
/// caches have their whole vectors there as well. A long body, or one of few
/// turns, is made once, all of it masked. Several squares side by side are
/// followed by single ones where there are no masks.
void Emitter::laneLoop(Frame &frame, const LoopSpec &loop,
                       ArrayRef<LoopSpec> rest, Values &states, Body body) {
  if (loop.masked)
    return maskedTurn(frame, loop, rest, states, body);
  if (loop.whole)
    return plainLoop(frame, loop, loop.lower, loop.upper, /*masked=*/false,
                     rest, states, body);
  unsigned copies = copiesOf(frame, frame.bound).size();
  if (loop.plan.fixed && loop.plan.once)
    return piecesLoop(frame, loop, loop.lower, rest, states, body);
  bool once = loop.plan.once || schedule.isLong(copies);
  if (target.hasMask && once && loop.plan.copies == 1)
    return plainLoop(frame, loop, loop.lower, loop.upper, /*masked=*/true, rest,
                     states, body);
  Location loc = model.kernel.getLoc();
  Value left = leftOf(*this, frame, loop.plan, lengthOf(frame, loop));
  Value middle = middleOf(*this, frame, loop, left);
  plainLoop(frame, loop, loop.lower, middle, /*masked=*/false, rest, states,
            body);
  if (loop.plan.fixed && !target.isGpu())
    return piecesLoop(frame, loop, middle, rest, states, body);
  if (restInCopies(frame, loop, middle, rest, states, body))
    return;
  LoopSpec tail = loop;
  tail.plan.copies = 1;
  bool streamsRows = streaming && launch->axes.size() > 1;
  bool isRow = (!target.hasMask || streamsRows || (launch && launch->again)) &&
               loop.plan.lanes > 1 && loop.plan.copies > 1;
  unsigned side = squareSide(loop.plan.lanes, target.vectorBytes);
  bool hasSquares = !target.hasMask && launch && launch->turned >= 0 &&
                    loop.plan.lanes > side;
  if (hasSquares)
    tail.plan.lanes = side;
  if ((isRow || hasSquares) && !target.isGpu()) {
    Value lanes = constant(frame, tail.plan.lanes);
    Value few = arith::RemUIOp::create(in(frame), loc, left, lanes);
    Value whole = arith::SubIOp::create(in(frame), loc, loop.upper, few);
    plainLoop(frame, tail, middle, whole, /*masked=*/false, rest, states, body);
    middle = whole;
  }
  if (!target.hasMask && !tail.plan.fixed)
    tail.plan.lanes = 1;
  plainLoop(frame, tail, middle, loop.upper, tail.plan.lanes > 1, rest, states,
            body);
}

Value Emitter::laneMask(Frame &frame, Value position, Value upper,
                        unsigned lanes) {
  OpBuilder &b = in(frame);
  Location loc = position.getLoc();
  Value left = arith::SubIOp::create(b, loc, upper, position);
  left = arith::TruncIOp::create(b, loc, b.getI32Type(), left);
  auto numbers = llvm::to_vector(llvm::seq<std::int32_t>(0, lanes));
  auto type = VectorType::get({std::int64_t(lanes)}, b.getI32Type());
  Value steps = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, steps,
                               widen(frame, left, lanes));
}

void Emitter::plainLoop(Frame &frame, const LoopSpec &loop, Value lower,
                        Value upper, bool masked, ArrayRef<LoopSpec> rest,
                        Values &states, Body body) {
  const AxisPlan &plan = loop.plan;
  Value by =
      constant(frame, std::int64_t(plan.lanes) * plan.copies * loop.turns);
  OpBuilder &b = in(frame);
  Location loc = model.kernel.getLoc();
  auto made = scf::ForOp::create(b, loc, lower, upper, by, states);
  if (states.empty())
    made.getBody()->getTerminator()->erase();
  Anchor anchor(frame, made);
  Frame inner = Frame::inside(frame, made.getBody());
  Binding binding{.axis = plan.axis,
                  .position = made.getInductionVar(),
                  .lanes = plan.lanes,
                  .copies = plan.copies,
                  .shared = plan.shared};
  if (loop.reverse) {
    assert(plan.lanes == 1 && plan.copies == 1 && "lanes run forward");
    Value one = constant(inner, 1);
    OpBuilder &at = in(inner);
    Value last = arith::SubIOp::create(at, loc, upper, one);
    Value done = arith::SubIOp::create(at, loc, binding.position, lower);
    binding.position = arith::SubIOp::create(at, loc, last, done);
  }
  if (plan.repeats && plan.copies > 1) {
    Value one = constant(inner, 1);
    binding.last = arith::SubIOp::create(in(inner), loc, loop.upper, one);
  }
  if (masked)
    binding.mask = laneMask(inner, binding.position, upper, plan.lanes);
  inner.bind(binding);
  Values carried(made.getRegionIterArgs());
  nest(inner, rest, carried, body);
  scf::YieldOp::create(in(inner), loc, carried);
  states.assign(made.result_begin(), made.result_end());
}
