// Proofs that an index is in range. MLIR infers the range of every operation of
// `arith` with wrapping; this adds the kernel's own values, loops, and the
// conditions around an access.
#include "dsl/threads/Ranges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// Values that one proof looks at; more are not looked into. Also the steps of
/// the search through comparisons.
static constexpr unsigned maximumSteps = 256;

static std::optional<std::int64_t> constantOf(Value value) {
  APInt number;
  if (value && matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

/// The sum, or nothing where it does not fit 64 bits.
static std::optional<std::int64_t> plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return llvm::AddOverflow(a, b, sum) ? std::nullopt : std::optional(sum);
}

static std::optional<std::int64_t> minus(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  return llvm::SubOverflow(a, b, difference) ? std::nullopt
                                             : std::optional(difference);
}

static ConstantIntRanges signedRange(unsigned bits, std::int64_t low,
                                     std::int64_t high) {
  return ConstantIntRanges::fromSigned(APInt(bits, low, true),
                                       APInt(bits, high, true));
}

/// A block size that is no constant is checked by the launch.
Ranges::Ranges(qn::KernelOp kernel, unsigned warp)
    : kernel(kernel), isTrusting(!kernel->hasAttr(keepsChecksAttribute)),
      warp(warp) {
  qn::LaunchOp launch = kernel.launch();
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    blockLimits[dimension] =
        constantOf(launch->getOperand(3 + dimension)).value_or(maximumThreads);
}

/// How many elements an operand can have that lies along all of `axes`; nothing
/// where no operand does. The binder multiplies every operand's extents, those
/// that are expanded too: the bytes have a number of 64 bits, and where offsets
/// are narrow the elements have one of 31.
std::optional<std::int64_t>
Ranges::mostElements(ArrayRef<StringAttr> axes) const {
  std::optional<std::int64_t> most;
  for (Type type : kernel.block().getArgumentTypes()) {
    auto operand = dyn_cast<qn::OperandType>(type);
    if (!operand || !llvm::all_of(axes, [&](StringAttr axis) {
          return llvm::is_contained(operand.getAxes(), axis);
        }))
      continue;
    Type element = operand.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    std::int64_t bytes = std::max(element.getIntOrFloatBitWidth() / 8, 1u);
    most = std::min(most.value_or(INT64_MAX), INT64_MAX / bytes);
  }
  return most && !kernel.getWide() ? INT32_MAX : most;
}

/// The axes whose extents `value` is the product of, each once.
static std::optional<SmallVector<StringAttr, 4>> factorsOf(Value value) {
  SmallVector<Value, 4> factors{value};
  SmallVector<StringAttr, 4> axes;
  while (!factors.empty()) {
    Operation *factor = factors.pop_back_val().getDefiningOp();
    if (auto product = dyn_cast_or_null<arith::MulIOp>(factor)) {
      factors.append({product.getLhs(), product.getRhs()});
      continue;
    }
    auto size = dyn_cast_or_null<qn::SizeOp>(factor);
    if (!size || llvm::is_contained(axes, size.getAxisAttr()))
      return std::nullopt;
    axes.push_back(size.getAxisAttr());
  }
  return axes;
}

namespace quern {

/// One question, with the conditions that hold where it is asked.
class Proof {
public:
  explicit Proof(const Ranges &ranges) : known(ranges) {}

  void assumeAround(Operation *at);
  ConstantIntRanges range(Value value);
  bool isBelow(Ranges::Sum sum, StringRef axis);

private:
  using Sum = Ranges::Sum;

  void assume(Value condition, bool holds);
  void assumeBelow(Sum less, Sum more, bool orEqual);
  std::optional<Sum> step(Value value);
  Sum split(Value value);
  ConstantIntRanges inferred(Value value);
  ConstantIntRanges ofArgument(BlockArgument argument);
  ConstantIntRanges ofOperation(Operation *op, Value result);
  ConstantIntRanges refined(Value value, ConstantIntRanges range);
  bool isNatural(Value value) { return range(value).smin().isNonNegative(); }
  bool isBelowByOperation(Sum sum, StringRef axis);

  const Ranges &known;
  SmallVector<Ranges::Fact, 8> facts;
  llvm::DenseMap<Value, ConstantIntRanges> ranges;
  unsigned steps = 0;
};

} // namespace quern

/// The loop whose counter a value is.
static scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  auto loop =
      argument
          ? dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp())
          : scf::ForOp();
  return loop && argument == loop.getInductionVar() ? loop : scf::ForOp();
}

/// The counter of a loop. Every iteration begins below the end; none is below
/// the beginning unless a step wraps.
ConstantIntRanges Proof::ofArgument(BlockArgument argument) {
  unsigned bits = argument.getType().getIntOrFloatBitWidth();
  ConstantIntRanges all = ConstantIntRanges::maxRange(bits);
  scf::ForOp loop = loopOf(argument);
  if (!loop || loop.getUnsignedCmp())
    return all;
  // The first thread's bounds may be meant: conditions of this one say nothing.
  Proof everywhere(known);
  Proof &proof = known.doubtful.contains(loop) ? everywhere : *this;
  ConstantIntRanges lower = proof.range(loop.getLowerBound());
  ConstantIntRanges upper = proof.range(loop.getUpperBound());
  ConstantIntRanges step = proof.range(loop.getStep());
  if (upper.smax().isMinSignedValue())
    return all; // runs for no counter
  APInt last = upper.smax() - 1;
  bool wraps = false;
  (void)last.sadd_ov(step.smax(), wraps);
  if (wraps || !step.smin().isStrictlyPositive())
    return ConstantIntRanges::fromSigned(all.smin(), last);
  if (lower.smin() == lower.smax() && step.smin() == step.smax() &&
      lower.smin().sle(last) && lower.smin().isNonNegative())
    last = lower.smin() + (last - lower.smin()).sdiv(step.smin()) * step.smin();
  return ConstantIntRanges::fromSigned(
      lower.smin(), llvm::APIntOps::smax(last, lower.smin()));
}

ConstantIntRanges Proof::ofOperation(Operation *op, Value result) {
  unsigned bits = result.getType().getIntOrFloatBitWidth();
  ConstantIntRanges found = ConstantIntRanges::maxRange(bits);
  auto inferrable = dyn_cast<InferIntRangeInterface>(op);
  if (!inferrable)
    return found;
  SmallVector<IntegerValueRange, 3> operands;
  for (Value operand : op->getOperands())
    operands.push_back(operand.getType().isSignlessInteger()
                           ? IntegerValueRange(range(operand))
                           : IntegerValueRange());
  // MLIR negates the smallest number's quotient; what runs does not.
  if (isa<arith::CeilDivSIOp>(op) &&
      operands[0].getValue().smin().isMinSignedValue())
    return found;
  // A division by 0 has no result: a divisor that is not negative is positive.
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op)) {
    const ConstantIntRanges &divisor = operands[1].getValue();
    APInt one(bits, 1);
    if (divisor.smin().isNonNegative())
      operands[1] = ConstantIntRanges::fromSigned(
          llvm::APIntOps::smax(divisor.smin(), one),
          llvm::APIntOps::smax(divisor.smax(), one));
  }
  inferrable.inferResultRangesFromOptional(
      operands, [&](Value value, const IntegerValueRange &range) {
        if (value == result && !range.isUninitialized())
          found = range.getValue();
      });
  return found;
}

ConstantIntRanges Proof::inferred(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  Operation *op = value.getDefiningOp();
  if (auto thread = dyn_cast<qn::ThreadOp>(op))
    return signedRange(
        64, 0,
        std::max<std::int64_t>(
            known.blockLimits[static_cast<unsigned>(thread.getDimension())],
            1) -
            1);
  if (auto block = dyn_cast<qn::BlockOp>(op)) {
    // A grid of no blocks runs none.
    Value count = known.kernel.launch()->getOperand(
        static_cast<unsigned>(block.getDimension()));
    std::int64_t most = range(count).smax().getSExtValue();
    return signedRange(64, 0, std::max<std::int64_t>(most, 1) - 1);
  }
  if (isa<qn::LaneOp>(op))
    return signedRange(64, 0, known.warp - 1);
  if (isa<qn::SizeOp, arith::MulIOp>(op))
    if (auto axes = factorsOf(value))
      if (auto most = known.mostElements(*axes))
        return signedRange(64, 0, *most);
  if (isa<qn::SizeOp>(op))
    return signedRange(64, 0, known.kernel.getWide() ? INT64_MAX : INT32_MAX);
  return ofOperation(op, value);
}

/// What comparisons around leave of a range. A comparison with nothing between
/// says that the place is never reached, and is passed over.
ConstantIntRanges Proof::refined(Value value, ConstantIntRanges range) {
  std::int64_t low = range.smin().getSExtValue();
  std::int64_t high = range.smax().getSExtValue();
  for (const Ranges::Fact &fact : facts) {
    auto distance = minus(fact.more.offset, fact.less.offset);
    if (!distance || fact.less.root == fact.more.root)
      continue;
    auto limit = [&](Sum other, bool isHigh) -> std::int64_t {
      if (!other.root)
        return 0;
      ConstantIntRanges of = this->range(other.root);
      return (isHigh ? of.smax() : of.smin()).getSExtValue();
    };
    if (fact.less.root == value)
      if (auto most = plus(limit(fact.more, true), *distance);
          most && *most > low)
        high = std::min(high, *most - 1);
    if (fact.more.root == value)
      if (auto least = minus(limit(fact.less, false), *distance);
          least && *least < high)
        low = std::max(low, *least + 1);
  }
  return range.intersection(signedRange(range.smin().getBitWidth(), low, high));
}

ConstantIntRanges Proof::range(Value value) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return ConstantIntRanges::constant(number);
  // A value that is being looked into may be any number.
  ConstantIntRanges all = ConstantIntRanges::maxRange(bits);
  auto [place, isNew] = ranges.try_emplace(value, all);
  if (!isNew || bits > 64 || ++steps > maximumSteps)
    return place->second;
  ConstantIntRanges found = refined(value, inferred(value));
  ranges.insert_or_assign(value, found);
  return found;
}

/// `value` as another value plus a number, where that holds without wrapping.
std::optional<Ranges::Sum> Proof::step(Value value) {
  if (auto number = constantOf(value))
    return Sum{Value(), *number};
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
    Value from = op->getOperand(0);
    ConstantIntRanges given = range(from);
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    bool isSame = isa<arith::ExtSIOp>(op) ? true
                  : isa<arith::ExtUIOp>(op)
                      ? given.smin().isNonNegative()
                      : given.smin().isSignedIntN(bits) &&
                            given.smax().isSignedIntN(bits);
    return isSame ? std::optional(Sum{from, 0}) : std::nullopt;
  }
  bool isSum = isa_and_nonnull<arith::AddIOp>(op);
  if (!isSum && !isa_and_nonnull<arith::SubIOp>(op))
    return std::nullopt;
  APInt number;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&number)) ||
      (!isSum && number.isMinSignedValue()))
    return std::nullopt;
  if (!isSum)
    number.negate();
  ConstantIntRanges given = range(op->getOperand(0));
  bool wrapsLow = false, wrapsHigh = false;
  (void)given.smin().sadd_ov(number, wrapsLow);
  (void)given.smax().sadd_ov(number, wrapsHigh);
  if (wrapsLow || wrapsHigh)
    return std::nullopt;
  return Sum{op->getOperand(0), number.getSExtValue()};
}

Ranges::Sum Proof::split(Value value) {
  Sum sum{value, 0};
  while (sum.root && ++steps <= maximumSteps) {
    auto inner = step(sum.root);
    auto offset = inner ? plus(sum.offset, inner->offset) : std::nullopt;
    if (!offset)
      break;
    sum = {inner->root, *offset};
  }
  return sum;
}

void Proof::assumeBelow(Sum less, Sum more, bool orEqual) {
  auto offset = plus(more.offset, orEqual);
  if (!offset)
    return;
  facts.push_back({less, {more.root, *offset}});
  ranges.clear(); // they may be smaller now
}

void Proof::assume(Value condition, bool holds) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return;
  bool isBoth = holds ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op);
  if (isBoth) {
    assume(op->getOperand(0), holds);
    return assume(op->getOperand(1), holds);
  }
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return assume(op->getOperand(0), !holds);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return;
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  if (!holds)
    predicate = arith::invertPredicate(predicate);
  Value less = compare.getLhs(), more = compare.getRhs();
  if (!less.getType().isSignlessInteger())
    return;
  if (predicate == Predicate::sgt || predicate == Predicate::sge ||
      predicate == Predicate::ugt || predicate == Predicate::uge)
    std::swap(less, more);
  bool orEqual = predicate == Predicate::sle || predicate == Predicate::sge ||
                 predicate == Predicate::ule || predicate == Predicate::uge ||
                 predicate == Predicate::eq;
  bool isUnsigned = predicate >= Predicate::ult;
  // Below a number without a sign bit, without a sign: from 0 on.
  if (predicate == Predicate::ne || (isUnsigned && !isNatural(more)))
    return;
  Sum left = split(less), right = split(more);
  assumeBelow(left, right, orEqual);
  if (predicate == Predicate::eq)
    assumeBelow(right, left, true);
  if (isUnsigned)
    assumeBelow({Value(), -1}, left, false);
}

/// The conditions of branches around `at`, from outside to inside.
void Proof::assumeAround(Operation *at) {
  SmallVector<std::pair<Value, bool>, 8> conditions;
  for (Operation *inner = at, *op = at->getParentOp();
       op && !isa<qn::KernelOp>(op); inner = op, op = op->getParentOp()) {
    if (known.doubtful.contains(op))
      continue;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      conditions.push_back(
          {branch.getCondition(),
           inner->getParentRegion() == &branch.getThenRegion()});
    if (auto loop = dyn_cast<scf::WhileOp>(op);
        loop && inner->getParentRegion() == &loop.getAfter())
      conditions.push_back({loop.getConditionOp().getCondition(), true});
  }
  for (auto [condition, holds] : llvm::reverse(conditions))
    assume(condition, holds);
  steps = 0;
}

/// What an operation's result is never above.
bool Proof::isBelowByOperation(Sum sum, StringRef axis) {
  Operation *op = sum.root.getDefiningOp();
  auto below = [&](Value root, std::int64_t less) {
    auto offset = minus(sum.offset, less);
    return offset && isBelow({root, *offset}, axis);
  };
  if (scf::ForOp loop = loopOf(sum.root))
    return !loop.getUnsignedCmp() && !known.doubtful.contains(loop) &&
           below(loop.getUpperBound(), 1);
  if (auto block = dyn_cast_or_null<qn::BlockOp>(op))
    return below(known.kernel.launch()->getOperand(
                     static_cast<unsigned>(block.getDimension())),
                 1);
  if (isa_and_nonnull<arith::MinSIOp>(op))
    return below(op->getOperand(0), 0) || below(op->getOperand(1), 0);
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return below(op->getOperand(0), 0) && below(op->getOperand(1), 0);
  if (isa_and_nonnull<arith::SelectOp>(op))
    return below(op->getOperand(1), 0) && below(op->getOperand(2), 0);
  // Less something, and a part, of what is not negative.
  if (isa_and_nonnull<arith::SubIOp, arith::DivSIOp, arith::DivUIOp,
                      arith::ShRSIOp, arith::ShRUIOp>(op))
    return isNatural(op->getOperand(0)) && isNatural(op->getOperand(1)) &&
           below(op->getOperand(0), 0);
  return false;
}

/// Whether `sum` is below the extent of `axis`.
bool Proof::isBelow(Sum sum, StringRef axis) {
  if (++steps > maximumSteps)
    return false;
  auto size = sum.root ? sum.root.getDefiningOp<qn::SizeOp>() : qn::SizeOp();
  if (size && size.getAxis() == axis)
    return sum.offset < 0;
  for (const Ranges::Fact &fact : facts) {
    if (fact.less.root != sum.root || !fact.more.root)
      continue;
    // sum < more.root + (more.offset - less.offset + sum.offset)
    auto distance = minus(fact.more.offset, fact.less.offset);
    auto last = distance ? plus(*distance, sum.offset) : std::nullopt;
    auto offset = last ? minus(*last, 1) : std::nullopt;
    if (offset && isBelow({fact.more.root, *offset}, axis))
      return true;
  }
  if (!sum.root)
    return false;
  if (auto inner = step(sum.root)) {
    auto offset = plus(sum.offset, inner->offset);
    return offset && isBelow({inner->root, *offset}, axis);
  }
  return isBelowByOperation(sum, axis);
}

ConstantIntRanges Ranges::range(Value value) const {
  if (!isTrusting)
    return ConstantIntRanges::maxRange(value.getType().getIntOrFloatBitWidth());
  return Proof(*this).range(value);
}

bool Ranges::isWithin(Value value, std::int64_t low, std::int64_t high) const {
  ConstantIntRanges found = range(value);
  return found.smin().getSExtValue() >= low &&
         found.smax().getSExtValue() <= high;
}

bool Ranges::isInside(Value index, StringRef axis, std::int64_t fixed,
                      Operation *at) const {
  if (!isTrusting)
    return false;
  Proof proof(*this);
  proof.assumeAround(at);
  ConstantIntRanges found = proof.range(index);
  if (found.smin().isNegative())
    return false;
  return axis.empty() ? found.smax().getSExtValue() < fixed
                      : proof.isBelow({index, 0}, axis);
}
