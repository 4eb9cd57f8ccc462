// Positions that the text itself keeps within an axis: a least and a largest
// one, in any order, or a choice of such.
#include "dsl/lower/Held.h"
#include "dsl/threads/Ranges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// Chains of minima are short.
static constexpr unsigned deepest = 8;

static std::optional<std::int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// How much less than the extent of `axis` a value is, where it is that extent
/// without a number of elements.
static std::optional<std::int64_t> lessThanExtent(Value value,
                                                  StringAttr axis) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::SubIOp, arith::AddIOp>(op))
    return std::nullopt;
  auto size = op->getOperand(0).getDefiningOp<qn::SizeOp>();
  auto number = constantOf(op->getOperand(1));
  if (!size || size.getAxisAttr() != axis || !number || *number == INT64_MIN)
    return std::nullopt;
  return isa<arith::SubIOp>(op) ? *number : -*number;
}

/// Below the extent of `axis`, which is not 0.
static bool isBelow(Value value, StringAttr axis, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return false;
  auto below = [&](unsigned operand) {
    return isBelow(op->getOperand(operand), axis, depth + 1);
  };
  if (auto own = dyn_cast<qn::IndexOp>(op))
    return own.getAxisAttr() == axis;
  if (isa<arith::MinSIOp>(op))
    return below(0) || below(1);
  if (isa<arith::MaxSIOp>(op))
    return below(0) && below(1);
  if (isa<arith::SelectOp>(op))
    return below(1) && below(2);
  auto number = constantOf(value);
  return lessThanExtent(value, axis) >= 1 || (number && *number <= 0);
}

/// Not negative; with `most` not near the largest integer either, so that a
/// little can be added.
static bool isNatural(Value value, StringAttr axis, bool most,
                      unsigned depth = 0) {
  constexpr std::int64_t little = 1 << 20;
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return false;
  auto natural = [&](unsigned operand, bool limited) {
    return isNatural(op->getOperand(operand), axis, limited, depth + 1);
  };
  if (auto number = constantOf(value))
    return *number >= 0 && *number <= little;
  // An expanded tensor has any extent; the binder looks at them where offsets
  // are narrow.
  if (isa<qn::IndexOp, qn::SizeOp>(op))
    return !most || !op->getParentOfType<qn::RowwiseOp>().getWide();
  if (isa<arith::MinSIOp>(op))
    return natural(0, false) && natural(1, false) &&
           (!most || natural(0, true) || natural(1, true));
  if (isa<arith::MaxSIOp>(op))
    return most ? natural(0, true) && natural(1, true)
                : natural(0, false) || natural(1, false);
  if (isa<arith::SelectOp>(op))
    return natural(1, most) && natural(2, most);
  if (isa<arith::AddIOp>(op) && natural(0, true) && natural(1, true))
    return true;
  return lessThanExtent(value, axis) == 1;
}

bool quern::isHeld(Value index, StringAttr axis) {
  Operation *op = index.getDefiningOp();
  auto kernel = op ? op->getParentOfType<qn::RowwiseOp>() : qn::RowwiseOp();
  return kernel && !kernel->hasAttr(keepsChecksAttribute) &&
         isBelow(index, axis) && isNatural(index, axis, /*most=*/false);
}
