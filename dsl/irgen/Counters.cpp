// How large bounds and steps of loops can be, as far as their text tells.
#include "dsl/irgen/Counters.h"
#include "dsl/dialect/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quern;

namespace {

/// The magnitude of the lowest number; larger ones do not matter.
constexpr std::uint64_t most = std::uint64_t(1) << 63;
constexpr std::uint64_t mostThreads = 1024;
/// Expressions are looked into so deep.
constexpr unsigned mostDepth = 12;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return std::min(most, llvm::SaturatingAdd(a, b));
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return std::min(most, llvm::SaturatingMultiply(a, b));
}

std::uint64_t magnitude(Value value, unsigned depth);

std::uint64_t ofArgument(BlockArgument argument, unsigned depth) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument != loop.getInductionVar())
    return most;
  return std::max(magnitude(loop.getLowerBound(), depth),
                  magnitude(loop.getUpperBound(), depth));
}

std::uint64_t ofExtended(Value narrow) {
  unsigned width = narrow.getType().getIntOrFloatBitWidth();
  return std::uint64_t(1) << std::min(width, 63u);
}

/// A block's number is below the grid's extent.
std::uint64_t ofBlock(qn::BlockOp block, unsigned depth) {
  std::uint64_t found = most;
  auto kernel = block->getParentOfType<qn::KernelOp>();
  for (auto launch : kernel.getBody().getOps<qn::LaunchOp>()) {
    auto dimension = static_cast<unsigned>(block.getDimension());
    found = std::min(found, magnitude(launch->getOperand(dimension), depth));
  }
  return found;
}

/// The binder looks at extents where offsets are narrow; a tensor that is
/// expanded has any.
std::uint64_t ofExtent(Operation *op) {
  auto kernel = op->getParentOfType<qn::KernelOp>();
  auto rows = op->getParentOfType<qn::RowwiseOp>();
  bool isWide = kernel ? kernel.getWide() : !rows || rows.getWide();
  return isWide ? most : INT32_MAX;
}

std::optional<std::int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

std::uint64_t ofOperation(Operation *op, unsigned depth) {
  auto of = [&](unsigned number) {
    return magnitude(op->getOperand(number), depth);
  };
  return llvm::TypeSwitch<Operation *, std::uint64_t>(op)
      .Case<qn::SizeOp, qn::IndexOp>(
          [](auto extent) { return ofExtent(extent); })
      .Case<qn::BlockOp>([&](auto block) { return ofBlock(block, depth); })
      .Case<qn::ThreadOp, qn::LaneOp>([](auto) { return mostThreads; })
      .Case<arith::ExtSIOp, arith::ExtUIOp>(
          [](auto extended) { return ofExtended(extended.getIn()); })
      .Case<arith::AddIOp, arith::SubIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return sum(of(0), of(1)); })
      .Case<arith::MulIOp>([&](auto) { return product(of(0), of(1)); })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
            arith::ShRSIOp>([&](auto) { return of(0); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](Operation *masked) {
        std::int64_t mask = constantOf(masked->getOperand(1)).value_or(-1);
        return mask < 0 ? sum(of(0), of(1)) : std::uint64_t(mask);
      })
      .Case<arith::ShLIOp>([&](arith::ShLIOp shift) {
        std::int64_t by = constantOf(shift.getRhs()).value_or(-1);
        return by < 0 || by > 62 ? most : product(of(0), 1ull << by);
      })
      .Case<arith::RemSIOp>([&](auto) { return std::min(of(0), of(1)); })
      .Case<arith::MinSIOp, arith::MaxSIOp>(
          [&](auto) { return std::max(of(0), of(1)); })
      .Case<arith::SelectOp>([&](auto) { return std::max(of(1), of(2)); })
      .Default([](Operation *) { return most; });
}

std::uint64_t magnitude(Value value, unsigned depth) {
  if (auto number = constantOf(value))
    return *number < 0 ? 0 - std::uint64_t(*number) : std::uint64_t(*number);
  if (!depth)
    return most;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, depth - 1);
  return ofOperation(value.getDefiningOp(), depth - 1);
}

} // namespace

std::uint64_t irgen::magnitudeOf(Value value) {
  return magnitude(value, mostDepth);
}

bool irgen::staysCountable(Value lower, Value upper, Value step) {
  std::uint64_t stride = magnitudeOf(step);
  // The counter is at most a step less one behind the end.
  if (stride <= 1 || sum(magnitudeOf(upper), stride - 1) < most)
    return true;
  return stride <= smallStep && magnitudeOf(lower) <= most / 2;
}
