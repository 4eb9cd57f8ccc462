// Combinations over the lanes that a branch has left: one lane after the other.
#include "dsl/gpu/GridEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;

/// Goes over the lanes that are here, in order or in reverse.
GridEmitter::Values
GridEmitter::overLanes(ValueRange inits, bool reverse,
                       llvm::function_ref<Values(Value, ValueRange)> round) {
  Type set = device.laneSet();
  Values states{lanesNow()};
  llvm::append_range(states, inits);
  SmallVector<Type> types(ValueRange(states).getTypes());
  SmallVector<Location> places(types.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, states);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, places);
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                     before->getArgument(0), constant(0, set));
  scf::ConditionOp::create(b, loc, some, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, places);
  Value rest = after->getArgument(0), at;
  if (reverse) {
    at = math::CountLeadingZerosOp::create(b, loc, rest);
    at = arith::SubIOp::create(b, loc, constant(target.warp - 1, set), at);
  } else {
    at = math::CountTrailingZerosOp::create(b, loc, rest);
  }
  Value bit = arith::ShLIOp::create(b, loc, constant(1, set), at);
  Value left = arith::XOrIOp::create(b, loc, rest, bit);
  if (target.warp == 64)
    at = arith::TruncIOp::create(b, loc, b.getI32Type(), at);
  Values next{left};
  llvm::append_range(next, round(at, after->getArguments().drop_front()));
  scf::YieldOp::create(b, loc, next);
  return Values(loop.getResults().drop_front());
}

GridEmitter::Values GridEmitter::combineDivided(qn::CombineOp op) {
  Values own = getAll(op.getValues());
  return overLanes(
      getAll(op.getInits()), false, [&](Value at, ValueRange total) {
        return mergeIf({}, op.getMerge(), total, fromLane(own, at), total);
      });
}

GridEmitter::Values GridEmitter::prefixDivided(qn::PrefixOp op) {
  using Predicate = arith::CmpIPredicate;
  bool reverse = op.getReverse(), excludes = op.getExclusive();
  Predicate counts = reverse ? (excludes ? Predicate::ugt : Predicate::uge)
                             : (excludes ? Predicate::ult : Predicate::ule);
  Values own = getAll(op.getValues());
  return overLanes(
      getAll(op.getInits()), reverse, [&](Value at, ValueRange total) {
        Value takes = arith::CmpIOp::create(b, loc, counts, at, lane);
        return mergeIf(takes, op.getMerge(), total, fromLane(own, at), total);
      });
}
