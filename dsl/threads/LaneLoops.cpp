// Counted loops of a vector of threads: all lanes in step, or each with bounds
// of its own.
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

arith::CmpIPredicate quern::exchanged(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  default:
    return predicate;
  }
}

/// Where a loop's number meets a number that is linear in the lane: before
/// `first` and from `last` on every lane's comparison has the same outcome.
struct ThreadEmitter::Meeting {
  Value condition, first, last;
  bool before, behind;
};

/// Only a small body is worth writing three times, and only many rounds.
static bool isWorthParting(scf::ForOp loop, unsigned lanes) {
  constexpr unsigned most = 48;
  unsigned count = 0;
  bool isPlain = true;
  loop.getBody()->walk([&](Operation *op) {
    ++count;
    isPlain &= !isa<LoopLikeOpInterface>(op);
  });
  APInt lower, upper;
  bool isShort = matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
                 matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) &&
                 (upper - lower).sle(4 * lanes);
  return isPlain && count <= most && !isShort &&
         matchPattern(loop.getStep(), m_One());
}

std::optional<ThreadEmitter::Meeting> ThreadEmitter::meeting(scf::ForOp loop) {
  using Predicate = arith::CmpIPredicate;
  if (!isWorthParting(loop, lanes))
    return std::nullopt;
  for (auto compare : loop.getBody()->getOps<arith::CmpIOp>()) {
    Value own = loop.getInductionVar(), other = compare.getRhs();
    Predicate predicate = compare.getPredicate();
    if (compare.getRhs() == own) {
      other = compare.getLhs();
      predicate = exchanged(predicate);
    } else if (compare.getLhs() != own) {
      continue;
    }
    // The sum of a far number and the lane's might wrap.
    if (other == own || !loop.isDefinedOutsideOfLoop(other) || !hasRoom(other))
      continue;
    Lanes line = get(other);
    bool isStrict = predicate == Predicate::slt || predicate == Predicate::sge;
    bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
    bool isMore = predicate == Predicate::sgt || predicate == Predicate::sge;
    bool isEqual = predicate == Predicate::eq || predicate == Predicate::ne;
    if (line.vector || line.step != 1 || !(isLess || isMore || isEqual))
      continue;
    auto plus = [&](std::int64_t more) -> Value {
      return arith::AddIOp::create(b, loc, line.scalar, constant(more));
    };
    bool outside = predicate == Predicate::ne;
    return Meeting{compare.getResult(), plus(isStrict || isEqual ? 0 : 1),
                   plus(isStrict ? lanes - 1 : lanes),
                   isEqual ? outside : isLess, isEqual ? outside : isMore};
  }
  return std::nullopt;
}

/// Rounds that all lanes go together; gives the states behind them.
ThreadEmitter::Values ThreadEmitter::rounds(scf::ForOp op, Value lower,
                                            Value upper, Value step,
                                            ValueRange inits) {
  auto made = scf::ForOp::create(b, loc, lower, upper, step, inits);
  OpBuilder::InsertionGuard guard(b);
  enter(b, made.getBody());
  LaneScope around(scope, scope->mask);
  scope = &around;
  set(op.getInductionVar(), {made.getInductionVar(), 0, {}});
  for (auto [argument, value] :
       llvm::zip(op.getRegionIterArgs(), made.getRegionIterArgs()))
    bindArgument(argument, value);
  arm(*op.getBody(), scope->mask, [&] {
    Values next;
    for (auto [argument, value] :
         llvm::zip(op.getRegionIterArgs(), op.getYieldedValues()))
      next.push_back(asArgument(argument, value));
    scf::YieldOp::create(b, loc, next);
  });
  scope = around.outer;
  return Values(made.getResults());
}

/// A loop in which lanes are told apart by their number, as in `if i <
/// thread.x`: three loops, of which two need no comparison.
ThreadEmitter::Values ThreadEmitter::parted(scf::ForOp op, const Meeting &at,
                                            Value lower, Value upper,
                                            Value step, Values states) {
  Value first = arith::MinSIOp::create(b, loc, at.first, upper);
  first = arith::MaxSIOp::create(b, loc, first, lower);
  Value last = arith::MinSIOp::create(b, loc, at.last, upper);
  last = arith::MaxSIOp::create(b, loc, last, first);
  decided[at.condition] = at.before;
  states = rounds(op, lower, first, step, states);
  decided.erase(at.condition);
  states = rounds(op, first, last, step, states);
  decided[at.condition] = at.behind;
  states = rounds(op, last, upper, step, states);
  decided.erase(at.condition);
  return states;
}

void ThreadEmitter::countedLoop(scf::ForOp op) {
  Lanes lower = get(op.getLowerBound()), upper = get(op.getUpperBound());
  Lanes step = get(op.getStep());
  if (!lower.isUniform() || !upper.isUniform() || !step.isUniform())
    return dividedLoop(op, lower, upper, step);
  Values states;
  for (auto [argument, init] :
       llvm::zip(op.getRegionIterArgs(), op.getInitArgs()))
    states.push_back(asArgument(argument, init));
  if (auto found = meeting(op))
    states =
        parted(op, *found, lower.scalar, upper.scalar, step.scalar, states);
  else
    states = rounds(op, lower.scalar, upper.scalar, step.scalar, states);
  for (auto [result, value] : llvm::zip(op.getResults(), states))
    bindArgument(result, value);
}

/// The lanes of `value` below a bound.
Value ThreadEmitter::below(Lanes value, Lanes bound) {
  if (value.step == 1 && bound.isUniform())
    return lanesBelow(value.scalar, bound.scalar, false);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                               vectorOf(value), vectorOf(bound));
}

/// Bounds differ between lanes: rounds go on while any lane is in range. A
/// position that is linear in the lane stays so. The position of a lane that is
/// done goes on; where it could wrap, the loop carries which lanes are not
/// done.
void ThreadEmitter::dividedLoop(scf::ForOp op, Lanes lower, Lanes upper,
                                Lanes step) {
  bool wraps = !llvm::all_of(op->getOperands().take_front(3),
                             [&](Value bound) { return hasRoom(bound); });
  bool isLinear = !lower.vector && step.isUniform() && !wraps;
  Value first = isLinear ? lower.scalar : vectorOf(lower);
  Value stride = isLinear ? step.scalar : vectorOf(step);
  auto position = [&](Value now) {
    return isLinear ? Lanes{now, lower.step, {}} : Lanes{{}, 0, now};
  };
  Values inits{first};
  for (auto [argument, init] :
       llvm::zip(op.getRegionIterArgs(), op.getInitArgs()))
    inits.push_back(vectorOf(get(init)));
  if (wraps)
    inits.push_back(both(spread(constant(1, b.getI1Type())), scope->mask));
  SmallVector<Type> types(ValueRange(inits).getTypes()), handed = types;
  if (!wraps)
    handed.push_back(wide(b.getI1Type()));
  auto made = scf::WhileOp::create(b, loc, handed, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = begin(made.getBefore(), types);
  Values forward(before->getArguments());
  Value goesOn = wraps ? forward.pop_back_val() : scope->mask;
  Value inRange = both(goesOn, below(position(forward.front()), upper));
  forward.push_back(inRange);
  scf::ConditionOp::create(b, loc, anyLane(inRange), forward);

  Block *after = begin(made.getAfter(), handed);
  LaneScope around(scope, after->getArguments().back());
  scope = &around;
  set(op.getInductionVar(), position(after->getArgument(0)));
  for (auto [argument, value] :
       llvm::zip(op.getRegionIterArgs(), after->getArguments().drop_front()))
    set(argument, {{}, 0, value});
  arm(*op.getBody(), around.mask, [&] {
    Values next{arith::AddIOp::create(b, loc, after->getArgument(0), stride)};
    for (auto [value, old] :
         llvm::zip(op.getYieldedValues(), after->getArguments().drop_front()))
      next.push_back(arith::SelectOp::create(b, loc, around.mask,
                                             vectorOf(get(value)), old));
    if (wraps)
      next.push_back(around.mask);
    scf::YieldOp::create(b, loc, next);
  });
  scope = around.outer;
  for (auto [result, value] :
       llvm::zip(op.getResults(), made.getResults().drop_front()))
    set(result, {{}, 0, value});
}
