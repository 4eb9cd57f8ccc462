// How many elements are worth a task of their own: fewer, the more one costs.
#include "dsl/schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// Whether a position is a sum of axes and of what does not move.
static bool isSum(const KernelModel &model, Value index) {
  Operation *op = index.getDefiningOp();
  if (!model.axesOf(index) || isa_and_nonnull<qn::IndexOp, qn::AxisOp>(op))
    return true;
  return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
         isSum(model, op->getOperand(0)) && isSum(model, op->getOperand(1));
}

/// Whether lanes along an axis read every element for itself.
static bool gathers(const KernelModel &model, qn::LoadOp load, int lane) {
  if (!hasAxis(model.axesOf(load.getResult()), lane))
    return false;
  qn::OperandType type = load.getTensor().getType();
  auto strides = llvm::zip(type.getAxes(), type.getStrides());
  if (load.getIndices().empty())
    return llvm::any_of(strides, [&](auto pair) {
      auto [name, stride] = pair;
      return int(model.axisOf(name)) == lane && stride == StrideClass::Dynamic;
    });
  return !llvm::all_of(load.getIndices(), [&](Value index) {
    return !hasAxis(model.axesOf(index), lane) || isSum(model, index);
  });
}

/// In copies of an element by vectors, which 65536 of are a task (a few
/// microseconds): four operations are one more, and so is a second operand; a
/// read of its own, and whatever is done without lanes, take as long as many.
std::int64_t Schedule::worthOfTask(const LaunchPlan &launch) const {
  constexpr std::int64_t task = 65536, least = 256, apart = 8;
  auto operands = llvm::count_if(
      model.kernel.block().getArguments(), [&](BlockArgument argument) {
        auto type = dyn_cast<qn::OperandType>(argument.getType());
        return type && (model.axesOf(type) & launch.parallel);
      });
  std::int64_t cost = 1 + operations / 4 + (operands > 1 ? 1 : 0);
  if (launch.lane < 0) {
    cost = apart * (1 + operations / 2);
  } else {
    model.kernel.getBody().walk([&](qn::LoadOp load) {
      if (gathers(model, load, launch.lane))
        cost += apart;
    });
  }
  if (launch.scatter && launch.lane < 0)
    cost = 4 * apart + operations;
  return std::max(least, task / cost);
}
