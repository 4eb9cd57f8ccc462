// What threads of a warp or block do together: shuffles inside a warp, shared
// memory between the warps of a block.
#include "dsl/gpu/GridEmitter.h"

using namespace mlir;
using namespace quern;

/// Whether a lane is at this point; null: every lane is.
Value GridEmitter::isHere(Value at) {
  if (!here.divided && isWhole())
    return {};
  Value set = lanesNow();
  if (target.warp == 64)
    at = arith::ExtUIOp::create(b, loc, set.getType(), at);
  Value bit = arith::ShRUIOp::create(b, loc, set, at);
  return arith::TruncIOp::create(b, loc, b.getI1Type(), bit);
}

/// The lanes at this point.
Value GridEmitter::lanesNow() {
  return here.set ? here.set
                  : device.ballot(loc, {}, constant(1, b.getI1Type()));
}

/// A lane that is not there, or not here, gives way to the thread's own.
Value GridEmitter::shuffle(qn::ShuffleOp op) {
  Value own = arith::ExtUIOp::create(b, loc, b.getI64Type(), lane);
  Value from = get(op.getOffset());
  switch (op.getKind()) {
  case qn::ShuffleKind::idx:
    break;
  case qn::ShuffleKind::butterfly:
    from = arith::XOrIOp::create(b, loc, own, from);
    break;
  case qn::ShuffleKind::up:
    from = arith::SubIOp::create(b, loc, own, from);
    break;
  case qn::ShuffleKind::down:
    from = arith::AddIOp::create(b, loc, own, from);
    break;
  }
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, from,
                                       constant(target.warp));
  from = arith::SelectOp::create(b, loc, exists, from, own);
  from = arith::TruncIOp::create(b, loc, b.getI32Type(), from);
  if (Value present = isHere(from))
    from = arith::SelectOp::create(b, loc, present, from, lane);
  return device.shuffle(loc, here.set, get(op.getValue()), from);
}

Value GridEmitter::vote(qn::VoteOp op) {
  Value condition = get(op.getCondition());
  bool isAny = op.getKind() == qn::VoteKind::any;
  if (!isAny)
    condition =
        arith::XOrIOp::create(b, loc, condition, constant(1, b.getI1Type()));
  Value set = device.ballot(loc, here.set, condition);
  return arith::CmpIOp::create(
      b, loc, isAny ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq, set,
      constant(0, set.getType()));
}

GridEmitter::Values GridEmitter::fromLane(ValueRange of, Value at) {
  Values taken;
  for (Value value : of)
    taken.push_back(device.shuffle(loc, here.set, value, at));
  return taken;
}

GridEmitter::Values GridEmitter::chosen(Value condition, ValueRange yes,
                                        ValueRange no) {
  Values all;
  for (auto [left, right] : llvm::zip(yes, no))
    all.push_back(arith::SelectOp::create(b, loc, condition, left, right));
  return all;
}

/// Both merged where `takes` holds (null: always), else `otherwise`.
GridEmitter::Values GridEmitter::mergeIf(Value takes, Region &merge,
                                         ValueRange left, ValueRange right,
                                         ValueRange otherwise) {
  Values both(left);
  llvm::append_range(both, right);
  Values merged = inlined(merge, both);
  return takes ? chosen(takes, merged, otherwise) : merged;
}

/// The first lane gets the states of all, in their order; the lanes that are
/// missing are the last ones.
GridEmitter::Values GridEmitter::combineWarp(Region &merge, Values states) {
  for (unsigned by = 1; by < target.warp; by *= 2) {
    Value from = arith::AddIOp::create(b, loc, lane, short32(by));
    from = arith::AndIOp::create(b, loc, from, short32(target.warp - 1));
    Value takes = isHere(from);
    if (takes)
      from = arith::SelectOp::create(b, loc, takes, from, lane);
    states = mergeIf(takes, merge, states, fromLane(states, from), states);
  }
  return states;
}

/// The lane so many before this one, or behind it in reverse; where `takes`
/// says that it is not there, the own one.
Value GridEmitter::laneBefore(unsigned by, bool reverse, Value &takes) {
  Value step = short32(by);
  Value from = reverse ? Value(arith::AddIOp::create(b, loc, lane, step))
                       : arith::SubIOp::create(b, loc, lane, step);
  takes = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, from,
                                short32(target.warp));
  from = arith::AndIOp::create(b, loc, from, short32(target.warp - 1));
  if (Value present = isHere(from))
    takes = arith::AndIOp::create(b, loc, takes, present);
  return arith::SelectOp::create(b, loc, takes, from, lane);
}

/// Every lane gets the states up to its own, in order or in reverse.
GridEmitter::Values GridEmitter::prefixWarp(Region &merge, Values states,
                                            bool reverse) {
  for (unsigned by = 1; by < target.warp; by *= 2) {
    Value takes, from = laneBefore(by, reverse, takes);
    states = mergeIf(takes, merge, fromLane(states, from), states, states);
  }
  return states;
}

/// Every lane gets what the lane before it has; the first one `inits`.
GridEmitter::Values GridEmitter::shiftWarp(ValueRange states, ValueRange inits,
                                           bool reverse) {
  Value takes, from = laneBefore(1, reverse, takes);
  return chosen(takes, fromLane(states, from), inits);
}

/// The threads where `leaves` holds leave their warp's states for the others.
/// What was left before may still be read: hence the first barrier.
void GridEmitter::leaveStates(Value leaves, ValueRange left) {
  device.barrier(loc);
  guarded(leaves, {}, [&]() -> Value {
    for (auto [number, value] : llvm::enumerate(left))
      LLVM::StoreOp::create(b, loc, toMemory(b, loc, value, value.getType()),
                            stateSlot(number, warp), 8);
    return {};
  });
  device.barrier(loc);
}

/// The states that the warps `first` to `end` have left, in order or from the
/// last one on.
GridEmitter::Values GridEmitter::mergeWarps(Region &merge, ValueRange inits,
                                            Value first, Value end,
                                            bool reverse) {
  auto loop = scf::ForOp::create(b, loc, first, end, short32(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value of = loop.getInductionVar();
  if (reverse) {
    Value sum = arith::AddIOp::create(b, loc, first, end);
    sum = arith::SubIOp::create(b, loc, sum, short32(1));
    of = arith::SubIOp::create(b, loc, sum, of);
  }
  Values both(loop.getRegionIterArgs());
  for (auto [number, init] : llvm::enumerate(inits)) {
    Type type = init.getType();
    Value raw = LLVM::LoadOp::create(b, loc, memoryType(type),
                                     stateSlot(number, of), 8);
    both.push_back(fromMemory(b, loc, raw, type));
  }
  scf::YieldOp::create(b, loc, inlined(merge, both));
  return Values(loop.getResults());
}

Value GridEmitter::warpsOfBlock() {
  Value up = arith::AddIOp::create(b, loc, threads, short32(target.warp - 1));
  return arith::DivUIOp::create(b, loc, up, short32(target.warp));
}

/// Whether both orders of a merge give the same.
static bool isCommutative(Region &merge) {
  Block &block = merge.front();
  return llvm::hasSingleElement(block.without_terminator()) &&
         block.front().hasTrait<OpTrait::IsCommutative>();
}

/// The lanes that share a row of a tile, all of which are here, merge in pairs.
GridEmitter::Values GridEmitter::combineRow(Region &merge, Values states) {
  unsigned lanes = tileRowLanes(target);
  unsigned step = target.kind == TargetKind::Amdgpu ? matrixSize : 1;
  for (unsigned by = step; by < lanes * step; by *= 2) {
    Values others;
    for (Value state : states)
      others.push_back(device.shuffleXor(loc, state, lane, by));
    if (isCommutative(merge)) {
      states = mergeIf({}, merge, states, others, {});
      continue;
    }
    Value isLow = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, loc, lane, short32(by)), short32(0));
    Values low = chosen(isLow, states, others);
    states = mergeIf({}, merge, low, chosen(isLow, others, states), {});
  }
  return states;
}

void GridEmitter::combine(qn::CombineOp op) {
  Values results;
  bool isRow = op.getScope() == qn::Scope::row;
  bool isBlock = op.getScope() == qn::Scope::block;
  if (isRow) {
    results = combineRow(op.getMerge(), getAll(op.getValues()));
  } else if (!isBlock && here.divided) {
    results = combineDivided(op);
  } else {
    results = combineWarp(op.getMerge(), getAll(op.getValues()));
    if (isBlock && warpCount() > 1) {
      Value leads = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          lane, short32(0));
      leaveStates(leads, results);
      results = mergeWarps(op.getMerge(), getAll(op.getInits()), short32(0),
                           warpsOfBlock(), false);
    } else {
      results = fromLane(results, short32(0));
    }
  }
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    values[result] = value;
}

void GridEmitter::prefix(qn::PrefixOp op) {
  bool isBlock = op.getScope() == qn::Scope::block, reverse = op.getReverse();
  Values inits = getAll(op.getInits()), results;
  if (!isBlock && here.divided) {
    results = prefixDivided(op);
  } else {
    Values upTo = prefixWarp(op.getMerge(), getAll(op.getValues()), reverse);
    results = op.getExclusive() ? shiftWarp(upTo, inits, reverse) : upTo;
    if (isBlock && warpCount() > 1) {
      using Predicate = arith::CmpIPredicate;
      Value one = short32(1);
      Value last = arith::SubIOp::create(b, loc, threads, one);
      Value leaves = arith::OrIOp::create(
          b, loc,
          arith::CmpIOp::create(b, loc, Predicate::eq, lane,
                                short32(reverse ? 0 : target.warp - 1)),
          reverse ? constant(0, b.getI1Type())
                  : Value(arith::CmpIOp::create(b, loc, Predicate::eq, thread,
                                                last)));
      leaveStates(leaves, upTo);
      Value next = arith::AddIOp::create(b, loc, warp, one);
      Values before =
          mergeWarps(op.getMerge(), inits, reverse ? next : short32(0),
                     reverse ? warpsOfBlock() : warp, reverse);
      results = mergeIf({}, op.getMerge(), before, results, results);
    }
  }
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    values[result] = value;
}
