// What the threads of a warp do together: a warp is a vector of threads.
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// The lanes `from` of a vector; a lane outside stays where it is.
Value ThreadEmitter::permuted(Value vector, ArrayRef<std::int64_t> from) {
  return vector::ShuffleOp::create(b, loc, vector, vector, from);
}

/// The lane each of `numbers` (i32, in range) names: through memory, since the
/// numbers are known only when running.
Value ThreadEmitter::pick(Value vector, Value numbers) {
  Type type = cast<VectorType>(vector.getType()).getElementType();
  Value stored = toMemory(vector, type);
  Type element = cast<VectorType>(stored.getType()).getElementType();
  Value memory = reserve(element, lanes);
  LLVM::StoreOp::create(b, loc, stored, memory, 64);
  Value places = LLVM::GEPOp::create(b, loc, wide(memory.getType()), element,
                                     memory, ArrayRef<LLVM::GEPArg>{numbers});
  Value all = spread(constant(1, b.getI1Type()));
  Value raw = LLVM::masked_gather::create(b, loc, stored.getType(), places, all,
                                          zero(stored.getType()),
                                          element.getIntOrFloatBitWidth() / 8);
  return fromMemory(raw, type);
}

/// The lane a shuffle takes from, -1 where there is none.
static std::int64_t sourceLane(qn::ShuffleKind kind, std::int64_t lane,
                               std::int64_t offset, std::int64_t lanes) {
  std::int64_t from = offset;
  if (kind == qn::ShuffleKind::butterfly)
    from = lane ^ offset;
  if (kind == qn::ShuffleKind::up)
    from = lane - offset;
  if (kind == qn::ShuffleKind::down)
    from = lane + offset;
  return from >= 0 && from < lanes ? from : lane;
}

Lanes ThreadEmitter::shuffle(qn::ShuffleOp op) {
  Lanes given = get(op.getValue());
  if (given.isUniform() && !scope->mask)
    return given;
  Value own = vectorOf(given);
  Value taken, takenMask;
  Value mask = scope->mask;
  APInt fixed;
  if (matchPattern(op.getOffset(), m_ConstantInt(&fixed))) {
    SmallVector<std::int64_t> from;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      from.push_back(
          sourceLane(op.getKind(), lane, fixed.getSExtValue(), lanes));
    taken = permuted(own, from);
    takenMask = mask ? permuted(mask, from) : Value();
  } else {
    Type type = b.getI64Type();
    Value offset = vectorOf(get(op.getOffset()));
    Value lane = laneNumbers(type), from = offset;
    if (op.getKind() == qn::ShuffleKind::butterfly)
      from = arith::XOrIOp::create(b, loc, lane, offset);
    if (op.getKind() == qn::ShuffleKind::up)
      from = arith::SubIOp::create(b, loc, lane, offset);
    if (op.getKind() == qn::ShuffleKind::down)
      from = arith::AddIOp::create(b, loc, lane, offset);
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         from, spread(constant(lanes)));
    from = arith::SelectOp::create(b, loc, exists, from, lane);
    taken = pick(own, from);
    takenMask = mask ? pick(mask, from) : Value();
  }
  if (takenMask)
    taken = arith::SelectOp::create(b, loc, takenMask, taken, own);
  return {{}, 0, taken};
}

Lanes ThreadEmitter::ballot(qn::BallotOp op) {
  Value holds = both(scope->mask, vectorOf(get(op.getCondition())));
  Type bits = b.getIntegerType(lanes);
  Value packed =
      vector::BitCastOp::create(b, loc, VectorType::get({1}, bits), holds);
  Value word = vector::ExtractOp::create(b, loc, packed, 0);
  return {arith::ExtUIOp::create(b, loc, b.getI64Type(), word), 0, {}};
}

Lanes ThreadEmitter::vote(qn::VoteOp op) {
  Lanes condition = get(op.getCondition());
  if (condition.isUniform())
    return condition;
  if (op.getKind() == qn::VoteKind::any)
    return {anyLane(both(scope->mask, condition.vector)), 0, {}};
  Value missing = anyLane(without(scope->mask, condition.vector));
  return {arith::XOrIOp::create(b, loc, missing, constant(1, b.getI1Type())),
          0,
          {}};
}

/// Every lane's states as vectors, neutral where no thread takes part.
ThreadEmitter::Values ThreadEmitter::statesOf(ValueRange values,
                                              ValueRange inits) {
  Values states;
  for (auto [value, init] : llvm::zip(values, inits)) {
    Value state = vectorOf(get(value));
    if (scope->mask)
      state = arith::SelectOp::create(b, loc, scope->mask, state,
                                      vectorOf(get(init)));
    states.push_back(state);
  }
  return states;
}

/// Every lane takes the states `distance` lanes below (above, if negative) and
/// `fill` where there are none.
ThreadEmitter::Values ThreadEmitter::shifted(ValueRange states, ValueRange fill,
                                             std::int64_t distance) {
  SmallVector<std::int64_t> from;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::int64_t source = lane - distance;
    from.push_back(source >= 0 && source < lanes ? source : lanes + lane);
  }
  Values moved;
  for (auto [state, other] : llvm::zip(states, fill))
    moved.push_back(
        vector::ShuffleOp::create(b, loc, state, spread(other), from));
  return moved;
}

ThreadEmitter::Values ThreadEmitter::combineLanes(Region &merge, Values states,
                                                  ValueRange inits) {
  for (std::int64_t distance = 1; distance < lanes; distance *= 2) {
    Values pair = states;
    llvm::append_range(pair, shifted(states, inits, -distance));
    states = inlined(merge, pair);
  }
  for (Value &state : states)
    state = vector::ExtractOp::create(b, loc, state, 0);
  return states;
}

ThreadEmitter::Values ThreadEmitter::prefixLanes(Region &merge, Values states,
                                                 bool reverse) {
  for (std::int64_t distance = 1; distance < lanes; distance *= 2) {
    Values moved = shifted(states, states, reverse ? -distance : distance);
    Values pair = moved;
    llvm::append_range(pair, states);
    Values merged = inlined(merge, pair);
    SmallVector<bool> has;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      has.push_back(reverse ? lane + distance < lanes : lane >= distance);
    Value takes = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(cast<VectorType>(wide(b.getI1Type())), has));
    for (auto [state, value] : llvm::zip(states, merged))
      state = arith::SelectOp::create(b, loc, takes, value, state);
  }
  return states;
}

void ThreadEmitter::combineWarp(qn::CombineOp op) {
  Values states = statesOf(op.getValues(), op.getInits());
  Values inits;
  for (Value init : op.getInits())
    inits.push_back(vectorOf(get(init)));
  Values results = combineLanes(op.getMerge(), states, inits);
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    set(result, {value, 0, {}});
}

void ThreadEmitter::prefixWarp(qn::PrefixOp op) {
  Values states = statesOf(op.getValues(), op.getInits());
  Values inits;
  for (Value init : op.getInits())
    inits.push_back(vectorOf(get(init)));
  states = prefixLanes(op.getMerge(), states, op.getReverse());
  if (op.getExclusive())
    states = shifted(states, inits, op.getReverse() ? -1 : 1);
  for (auto [result, value] : llvm::zip(op.getResults(), states))
    set(result, {{}, 0, value});
}
