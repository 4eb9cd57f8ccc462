// Intervals of integers, and proofs that an index is in range.
#include "dsl/threads/Ranges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// Deeper expressions are not looked into.
static constexpr unsigned maximumDepth = 24;
/// More blocks, or elements along an axis, fit no memory.
static constexpr std::int64_t manyElements = std::int64_t(1) << 48;

static std::optional<std::int64_t> constantOf(Value value) {
  APInt number;
  if (value && matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

Ranges::Ranges(qn::KernelOp kernel, unsigned warp)
    : kernel(kernel), longestAxis(kernel.getWide() ? manyElements : INT32_MAX),
      warp(warp) {
  qn::LaunchOp launch = kernel.launch();
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    blockLimits[dimension] =
        constantOf(launch->getOperand(3 + dimension)).value_or(maximumThreads);
}

static Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::optional<Interval> Ranges::ofArgument(BlockArgument argument,
                                           unsigned depth) const {
  auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument != loop.getInductionVar())
    return std::nullopt;
  auto lower = interval(loop.getLowerBound(), depth);
  auto upper = interval(loop.getUpperBound(), depth);
  if (!lower)
    return std::nullopt;
  std::int64_t last = upper ? upper->high - 1 : INT64_MAX;
  auto first = constantOf(loop.getLowerBound());
  auto end = constantOf(loop.getUpperBound());
  auto step = constantOf(loop.getStep());
  if (first && end && step && *step > 0 && *end > *first)
    last = *first + (*end - 1 - *first) / *step * *step;
  return Interval{lower->low, std::max(last, lower->low)};
}

/// Sums, differences and products whose bounds do not overflow.
static std::optional<Interval> combined(Operation *op, Interval a, Interval b) {
  std::int64_t low = 0, high = 0;
  if (isa<arith::AddIOp>(op)) {
    if (llvm::AddOverflow(a.low, b.low, low) ||
        llvm::AddOverflow(a.high, b.high, high))
      return std::nullopt;
    return Interval{low, high};
  }
  if (isa<arith::SubIOp>(op)) {
    if (llvm::SubOverflow(a.low, b.high, low) ||
        llvm::SubOverflow(a.high, b.low, high))
      return std::nullopt;
    return Interval{low, high};
  }
  Interval product{INT64_MAX, INT64_MIN};
  for (std::int64_t x : {a.low, a.high})
    for (std::int64_t y : {b.low, b.high}) {
      std::int64_t value = 0;
      if (llvm::MulOverflow(x, y, value))
        return std::nullopt;
      product = hull(product, {value, value});
    }
  return product;
}

/// Whether `value` is a product of extents that one operand has side by side:
/// no more than it has elements.
bool Ranges::countsElements(Value value) const {
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
      return false;
    axes.push_back(size.getAxisAttr());
  }
  return llvm::any_of(kernel.block().getArgumentTypes(), [&](Type type) {
    auto operand = dyn_cast<qn::OperandType>(type);
    return operand && llvm::all_of(axes, [&](StringAttr axis) {
             return llvm::is_contained(operand.getAxes(), axis);
           });
  });
}

std::optional<Interval> Ranges::arithmetic(Operation *op,
                                           unsigned depth) const {
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    auto yes = interval(choice.getTrueValue(), depth);
    auto no = interval(choice.getFalseValue(), depth);
    return yes && no ? std::optional(hull(*yes, *no)) : std::nullopt;
  }
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op)) {
    auto inner = interval(op->getOperand(0), depth);
    unsigned bits = op->getResult(0).getType().getIntOrFloatBitWidth();
    bool fits = inner && (bits >= 64 || (llvm::isIntN(bits, inner->low) &&
                                         llvm::isIntN(bits, inner->high)));
    return fits ? inner : std::nullopt;
  }
  if (op->getNumOperands() != 2)
    return std::nullopt;
  auto a = interval(op->getOperand(0), depth);
  auto b = interval(op->getOperand(1), depth);
  if (auto mask = isa<arith::AndIOp>(op) ? b : std::nullopt)
    if (mask->low == mask->high && mask->low >= 0)
      return Interval{0, mask->high};
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return combined(op, *a, *b);
  if (isa<arith::MinSIOp>(op))
    return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
  if (isa<arith::MaxSIOp>(op))
    return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
  if (a->low < 0 || b->low < 0)
    return std::nullopt;
  if (isa<arith::OrIOp, arith::XOrIOp>(op)) {
    auto bits = static_cast<std::uint64_t>(a->high | b->high);
    return Interval{0, llvm::maxIntN(llvm::bit_width(bits) + 1)};
  }
  // No divisor is 0.
  Interval divisor{std::max<std::int64_t>(b->low, 1),
                   std::max<std::int64_t>(b->high, 1)};
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return Interval{a->low / divisor.high, a->high / divisor.low};
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return Interval{0, std::min(a->high, divisor.high - 1)};
  return std::nullopt;
}

std::optional<Interval> Ranges::interval(Value value, unsigned depth) const {
  if (auto number = constantOf(value))
    return Interval{*number, *number};
  if (++depth > maximumDepth || !value.getType().isSignlessInteger())
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, depth);
  Operation *op = value.getDefiningOp();
  if (auto thread = dyn_cast<qn::ThreadOp>(op))
    return Interval{
        0, blockLimits[static_cast<unsigned>(thread.getDimension())] - 1};
  if (isa<qn::BlockOp>(op))
    return Interval{0, manyElements};
  if (isa<qn::SizeOp>(op) || (isa<arith::MulIOp>(op) && countsElements(value)))
    return Interval{0, longestAxis};
  if (isa<qn::LaneOp>(op))
    return Interval{0, warp - 1};
  if (isa<arith::ExtUIOp>(op)) {
    auto inner = interval(op->getOperand(0), depth);
    if (inner && inner->low >= 0)
      return inner;
    unsigned bits = op->getOperand(0).getType().getIntOrFloatBitWidth();
    if (bits < 63)
      return Interval{0, (std::int64_t(1) << bits) - 1};
    return std::nullopt;
  }
  return arithmetic(op, depth);
}

Ranges::Sum Ranges::split(Value value) {
  Sum sum{value, 0};
  while (sum.root) {
    if (auto number = constantOf(sum.root))
      return {Value(), sum.offset + *number};
    Operation *op = sum.root.getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      return sum;
    auto right = constantOf(op->getOperand(1));
    if (!right || llvm::AbsoluteValue(*right) > manyElements)
      return sum;
    sum.offset += isa<arith::AddIOp>(op) ? *right : -*right;
    sum.root = op->getOperand(0);
  }
  return sum;
}

void Ranges::addCondition(Value condition, bool holds, Facts &facts) const {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return;
  bool isBoth = holds ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op);
  if (isBoth) {
    addCondition(op->getOperand(0), holds, facts);
    return addCondition(op->getOperand(1), holds, facts);
  }
  if (isa<arith::XOrIOp>(op) && constantOf(op->getOperand(1)))
    return addCondition(op->getOperand(0), !holds, facts);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return;
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  if (!holds)
    predicate = arith::invertPredicate(predicate);
  Sum left = split(compare.getLhs()), right = split(compare.getRhs());
  auto below = [&](Sum less, Sum more, bool orEqual) {
    more.offset += orEqual;
    facts.push_back({less, more});
  };
  if (predicate == Predicate::slt || predicate == Predicate::sle ||
      predicate == Predicate::eq)
    below(left, right, predicate != Predicate::slt);
  if (predicate == Predicate::sgt || predicate == Predicate::sge ||
      predicate == Predicate::eq)
    below(right, left, predicate != Predicate::sgt);
  if (predicate != Predicate::ult)
    return;
  auto bound = interval(compare.getRhs());
  if (!bound || bound->low < 0)
    return;
  below(left, right, false);
  below({Value(), -1}, left, false);
}

Ranges::Facts Ranges::factsAt(Operation *at) const {
  Facts facts;
  for (Operation *inner = at, *op = at->getParentOp();
       op && !isa<qn::KernelOp>(op); inner = op, op = op->getParentOp()) {
    if (doubtful.contains(op))
      continue;
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch)
      addCondition(branch.getCondition(),
                   inner->getParentRegion() == &branch.getThenRegion(), facts);
    if (auto loop = dyn_cast<scf::WhileOp>(op);
        loop && inner->getParentRegion() == &loop.getAfter())
      addCondition(loop.getConditionOp().getCondition(), true, facts);
  }
  return facts;
}

bool Ranges::isNatural(Value value, const Facts &facts, unsigned depth) const {
  auto bounds = interval(value);
  if (bounds && bounds->low >= 0)
    return true;
  if (++depth > maximumDepth)
    return false;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return isNatural(op->getOperand(0), facts, depth) ||
           isNatural(op->getOperand(1), facts, depth);
  if (isa_and_nonnull<arith::MinSIOp>(op))
    return isNatural(op->getOperand(0), facts, depth) &&
           isNatural(op->getOperand(1), facts, depth);
  Sum sum = split(value);
  for (const Fact &fact : facts) {
    if (!sum.root || fact.more.root != sum.root)
      continue;
    Interval least{0, 0};
    if (fact.less.root) {
      auto known = interval(fact.less.root);
      if (!known)
        continue;
      least = *known;
    }
    if (least.low + fact.less.offset - fact.more.offset + 1 + sum.offset >= 0)
      return true;
  }
  return isa_and_nonnull<arith::AddIOp>(op) &&
         isNatural(op->getOperand(0), facts, depth) &&
         isNatural(op->getOperand(1), facts, depth);
}

/// A size of the kernel's axis.
static bool isSizeOf(Value value, StringRef axis) {
  auto size = value ? value.getDefiningOp<qn::SizeOp>() : qn::SizeOp();
  return size && size.getAxis() == axis;
}

bool Ranges::isBelow(Value value, StringRef axis, std::int64_t fixed,
                     const Facts &facts, unsigned depth) const {
  auto bounds = interval(value);
  if (axis.empty() && bounds && bounds->high < fixed)
    return true;
  if (++depth > maximumDepth)
    return false;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MinSIOp>(op))
    return isBelow(op->getOperand(0), axis, fixed, facts, depth) ||
           isBelow(op->getOperand(1), axis, fixed, facts, depth);
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return isBelow(op->getOperand(0), axis, fixed, facts, depth) &&
           isBelow(op->getOperand(1), axis, fixed, facts, depth);
  auto bound = [&](Sum more, std::int64_t distance) {
    if (!axis.empty())
      return isSizeOf(more.root, axis) && more.offset + distance <= 0;
    if (!more.root)
      return more.offset + distance <= fixed;
    auto known = interval(more.root);
    return known && known->high + more.offset + distance <= fixed;
  };
  Sum sum = split(value);
  if (!axis.empty() && isSizeOf(sum.root, axis) && sum.offset < 0)
    return true;
  for (const Fact &fact : facts)
    if (sum.root && fact.less.root == sum.root &&
        bound(fact.more, sum.offset - fact.less.offset))
      return true;
  auto argument = dyn_cast_or_null<BlockArgument>(sum.root);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && argument == loop.getInductionVar() &&
         bound(split(loop.getUpperBound()), sum.offset);
}

bool Ranges::isInside(Value index, StringRef axis, std::int64_t fixed,
                      Operation *at) const {
  Facts facts = factsAt(at);
  return isNatural(index, facts) && isBelow(index, axis, fixed, facts);
}
