// How many elements are worth a task of their own: fewer, the more one costs.
#include "dsl/cost/Parameters.h"
#include "dsl/schedule/ScheduleChooser.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// In copies of an element by vectors, which 65536 of are a task (a few
/// microseconds): four operations are one more, and so is a second operand; a
/// read of its own, and whatever is done without lanes, take as long as many.
std::int64_t ScheduleChooser::worthOfTask(const LaunchPlan &launch) const {
  auto operands = llvm::count_if(
      model.kernel.block().getArguments(), [&](BlockArgument argument) {
        auto type = dyn_cast<qn::OperandType>(argument.getType());
        return type && (model.axesOf(type) & launch.parallel);
      });
  std::int64_t cost = 1 + operations / 4 + (operands > 1 ? 1 : 0);
  if (launch.lane < 0) {
    cost = cost::scalarAccess * (1 + operations / 2);
  } else {
    model.kernel.getBody().walk([&](qn::LoadOp load) {
      if (gathers(model, load, launch.lane))
        cost += cost::scalarAccess;
    });
  }
  if (launch.scatter && launch.lane < 0)
    cost = 4 * cost::scalarAccess + operations;
  return std::max(cost::taskLeast, cost::taskCopies / cost);
}
