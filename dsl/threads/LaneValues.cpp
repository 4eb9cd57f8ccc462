// Values of threads: uniform, linear in the lane, or one for each lane.
#include "dsl/lower/SmallFloat.h"
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

Type ThreadEmitter::wide(Type type) const {
  return VectorType::get({std::int64_t(lanes)}, type);
}

Value ThreadEmitter::constant(std::int64_t value, Type type) {
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type ? type : b.getI64Type(), value));
}

Value ThreadEmitter::zero(Type type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

Value ThreadEmitter::laneNumbers(Type type, std::int64_t step) {
  auto integer = cast<IntegerType>(type);
  SmallVector<APInt> numbers;
  for (unsigned lane = 0; lane < lanes; ++lane)
    numbers.push_back(
        (APInt(64, lane) * APInt(64, step, true)).trunc(integer.getWidth()));
  auto vector = cast<VectorType>(wide(type));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(vector, numbers));
}

Value ThreadEmitter::spread(Value scalar) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, loc, wide(scalar.getType()), scalar);
}

Value ThreadEmitter::vectorOf(Lanes value) {
  if (value.vector)
    return value.vector;
  Value all = spread(value.scalar);
  if (value.step == 0)
    return all;
  Value numbers = laneNumbers(value.scalar.getType(), value.step);
  return arith::AddIOp::create(b, loc, all, numbers);
}

/// Both masks; null means all lanes.
Value ThreadEmitter::both(Value a, Value other) {
  if (!a || !other)
    return a ? a : other;
  if (isa<VectorType>(a.getType()) || isa<VectorType>(other.getType())) {
    a = spread(a);
    other = spread(other);
  }
  return arith::AndIOp::create(b, loc, a, other);
}

/// The lanes of `mask` that are not in `taken`.
Value ThreadEmitter::without(Value mask, Value taken) {
  Value ones = arith::ConstantOp::create(b, loc, b.getOneAttr(taken.getType()));
  Value rest = arith::XOrIOp::create(b, loc, taken, ones);
  return both(mask, rest);
}

Value ThreadEmitter::anyLane(Value mask) {
  if (!isa<VectorType>(mask.getType()))
    return mask;
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
}

/// A value that all threads of the block share.
Value ThreadEmitter::scalarOf(Value value) {
  if (Value made = shared.lookup(value))
    return made;
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner() == &model.kernel.block()) {
      Value word = words[packet.argumentWord(argument.getArgNumber())];
      return value.getType().isInteger(1) ? fromMemory(word, value.getType())
                                          : word;
    }
  Operation *op = value.getDefiningOp();
  assert(op && "a shared value is made before it is used");
  sharedOperation(op);
  return shared.lookup(value);
}

Lanes ThreadEmitter::get(Value value) {
  for (LaneScope *at = scope; at; at = at->outer)
    if (auto found = at->values.find(value); found != at->values.end())
      return found->second;
  if (!model.differs(value) &&
      (shared.contains(value) ||
       (isa<BlockArgument>(value) &&
        cast<BlockArgument>(value).getOwner() == &model.kernel.block())))
    return {scalarOf(value), 0, {}};
  if (model.isKept(value)) {
    Lanes found = kept(value);
    set(value, found);
    return found;
  }
  Operation *op = value.getDefiningOp();
  assert(op && "a value of a thread is made before it is used");
  emit(op);
  return scope->values.lookup(value);
}

Lanes ThreadEmitter::threadNumber(qn::ThreadOp op) {
  unsigned dimension = static_cast<unsigned>(op.getDimension());
  if (!model.isLinear) {
    bool isLane = op.getDimension() == qn::Dimension::x;
    return {threadRow[dimension], isLane && lanes > 1 ? 1 : 0, {}};
  }
  Value number = vectorOf({threadRow[0], 1, {}});
  for (unsigned inner = 0; inner <= dimension; ++inner) {
    if (dimension == 2 && inner == 2)
      break;
    Value size = spread(launchValue(3 + inner));
    if (inner == dimension)
      number = arith::RemUIOp::create(b, loc, number, size);
    else
      number = arith::DivUIOp::create(b, loc, number, size);
  }
  return {{}, 0, number};
}

static std::optional<std::int64_t> constantOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

/// Sums, differences and multiples of what is linear stay linear.
std::optional<Lanes> ThreadEmitter::linear(Operation *op,
                                           ArrayRef<Lanes> operands) {
  bool fits = llvm::none_of(operands, [](Lanes l) { return l.vector; }) &&
              llvm::any_of(operands, [](Lanes l) { return l.step != 0; });
  if (!fits)
    return std::nullopt;
  auto made = [&](Values scalars, std::int64_t step) {
    return Lanes{cloneWith(op, scalars, 1).front(), step, {}};
  };
  // Steps wrap as the values do.
  auto bits = [](std::int64_t step) {
    return static_cast<std::uint64_t>(step);
  };
  if (isa<arith::AddIOp>(op))
    return made({operands[0].scalar, operands[1].scalar},
                bits(operands[0].step) + bits(operands[1].step));
  if (isa<arith::SubIOp>(op))
    return made({operands[0].scalar, operands[1].scalar},
                bits(operands[0].step) - bits(operands[1].step));
  if (isa<arith::TruncIOp>(op))
    return made({operands[0].scalar}, operands[0].step);
  if (isa<arith::MulIOp>(op))
    for (unsigned side : {0, 1})
      if (auto factor = constantOf(op->getOperand(1 - side));
          factor && operands[side].step && operands[1 - side].isUniform())
        return made({operands[0].scalar, operands[1].scalar},
                    bits(operands[side].step) * bits(*factor));
  if (isa<arith::SelectOp>(op) && operands[0].isUniform() &&
      operands[1].step == operands[2].step)
    return made({operands[0].scalar, operands[1].scalar, operands[2].scalar},
                operands[1].step);
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return compare(comparison, operands[0], operands[1]);
  return std::nullopt;
}

/// The first `count` lanes; `count` is at most the number of lanes.
Value ThreadEmitter::lowLanes(Value count) {
  Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), count);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                               laneNumbers(b.getI32Type()), spread(narrow));
}

/// The lanes where `first + lane` is below `bound`: a run from lane 0.
Value ThreadEmitter::lanesBelow(Value first, Value bound, bool orEqual) {
  using Predicate = arith::CmpIPredicate;
  Value some = arith::CmpIOp::create(
      b, loc, orEqual ? Predicate::sge : Predicate::sgt, bound, first);
  Value distance = arith::SubIOp::create(b, loc, bound, first);
  Value most = constant(orEqual ? lanes - 1 : lanes);
  Value count = arith::MinUIOp::create(b, loc, distance, most);
  if (orEqual)
    count = arith::AddIOp::create(b, loc, count, constant(1));
  count = arith::SelectOp::create(b, loc, some, count, constant(0));
  return lowLanes(count);
}

/// Fits 31 bits in every thread.
bool ThreadEmitter::isNarrow(Value value) const {
  return model.ranges.isWithin(value, INT32_MIN + 1, INT32_MAX - 1);
}

/// A few such numbers and a lane's number have a sum of 64 bits.
bool ThreadEmitter::hasRoom(Value value) const {
  constexpr std::int64_t most = std::int64_t(1) << 60;
  return model.ranges.isWithin(value, -most, most);
}

/// A linear value against a uniform one needs no vector of wide integers.
std::optional<Lanes> ThreadEmitter::compare(arith::CmpIOp op, Lanes left,
                                            Lanes right) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = op.getPredicate();
  if (left.step == right.step &&
      (predicate == Predicate::eq || predicate == Predicate::ne))
    return Lanes{cloneWith(op, {left.scalar, right.scalar}, 1).front(), 0, {}};
  if (!op.getLhs().getType().isInteger(64))
    return std::nullopt;
  Value line = op.getLhs();
  if (left.step == 0) {
    if (predicate < Predicate::slt || predicate > Predicate::sge)
      return std::nullopt;
    std::swap(left, right);
    line = op.getRhs();
    predicate = exchanged(predicate);
  }
  if (left.step != 1 || right.step != 0)
    return std::nullopt;
  if (isNarrow(op.getLhs()) && isNarrow(op.getRhs())) {
    auto narrow = [&](Lanes value) {
      value.scalar =
          arith::TruncIOp::create(b, loc, b.getI32Type(), value.scalar);
      return vectorOf(value);
    };
    return Lanes{
        {},
        0,
        arith::CmpIOp::create(b, loc, predicate, narrow(left), narrow(right))};
  }
  bool orEqual = predicate == Predicate::sle || predicate == Predicate::sgt;
  bool isBelow = predicate == Predicate::slt || predicate == Predicate::sle;
  bool isAbove = predicate == Predicate::sgt || predicate == Predicate::sge;
  // Lanes whose number wraps are no run from the first one.
  if ((!isBelow && !isAbove) || !hasRoom(line))
    return std::nullopt;
  Value below = lanesBelow(left.scalar, right.scalar, orEqual);
  return Lanes{{}, 0, isBelow ? below : without({}, below)};
}

/// The same operation on other operands, scalars or vectors of `width`.
ThreadEmitter::Values
ThreadEmitter::cloneWith(Operation *op, ValueRange operands, unsigned width) {
  return cloneLifted(b, target, op, operands, width);
}

SmallVector<Lanes> ThreadEmitter::elementwise(Operation *op,
                                              ArrayRef<Lanes> operands) {
  if (auto made = linear(op, operands))
    return {*made};
  bool isUniform =
      llvm::all_of(operands, [](Lanes l) { return l.isUniform(); });
  Values given;
  for (Lanes operand : operands)
    given.push_back(isUniform ? operand.scalar : vectorOf(operand));
  SmallVector<Lanes> results;
  for (Value made : cloneWith(op, given, isUniform ? 1 : lanes))
    results.push_back(isUniform ? Lanes{made, 0, {}} : Lanes{{}, 0, made});
  return results;
}

ThreadEmitter::Values ThreadEmitter::inlined(Region &region,
                                             ValueRange arguments) {
  LaneScope inside(scope, scope ? scope->mask : Value());
  scope = &inside;
  bool isVector = llvm::any_of(
      arguments, [](Value v) { return isa<VectorType>(v.getType()); });
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    set(argument, isVector ? Lanes{{}, 0, spread(value)} : Lanes{value, 0, {}});
  Values results;
  for (Operation &op : region.front().without_terminator())
    emit(&op);
  for (Value value : region.front().getTerminator()->getOperands()) {
    Lanes result = get(value);
    results.push_back(isVector ? vectorOf(result) : result.scalar);
  }
  scope = inside.outer;
  return results;
}
