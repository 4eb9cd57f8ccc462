// Tiles of sums along the lanes: rows of one operand by rows of another.
#include "dsl/cost/Parameters.h"
#include "dsl/schedule/ScheduleChooser.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// The axes of the operands that a value is made of element by element.
static void operandAxes(const KernelModel &model, Value value,
                        llvm::DenseSet<Value> &seen,
                        SmallVectorImpl<AxisSet> &found) {
  if (!seen.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || op->getNumOperands() == 0 ||
      isa<qn::LoadOp>(op)) {
    found.push_back(model.axesOf(value));
    return;
  }
  for (Value operand : op->getOperands())
    operandAxes(model, operand, seen, found);
}

/// Axes of one operand of a sum and of another, which the other lacks.
static std::pair<AxisSet, AxisSet> ownAxes(const KernelModel &model,
                                           Value value, AxisSet among) {
  SmallVector<AxisSet> sets;
  llvm::DenseSet<Value> seen;
  operandAxes(model, value, seen, sets);
  for (AxisSet left : sets)
    for (AxisSet right : sets)
      if ((left & ~right & among) && (right & ~left & among))
        return {left & ~right & among, right & ~left & among};
  return {};
}

/// Whether something is read at computed places for each position along `axis`,
/// but not for those along `other`: tests and a second way to read, each time.
static bool readsPlaces(const KernelModel &model, unsigned axis,
                        unsigned other) {
  auto found = model.kernel.getBody().walk([&](qn::LoadOp load) {
    AxisSet axes = model.axesOf(load.getResult());
    bool isAlong = hasAxis(axes, axis) && !hasAxis(axes, other);
    return isAlong && !load.getIndices().empty() ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Rows by columns of sums along the lanes, where two operands have an axis of
/// their own: each vector that is read serves several sums.
bool ScheduleChooser::planDots(LaunchPlan &launch) {
  for (qn::ReduceOp op : model.reductions) {
    Operation *input = op.getInputs()[0].getDefiningOp();
    if (op.getInits().size() != 1 || launch.lane < 0 ||
        (!isa_and_nonnull<arith::MulFOp>(input) &&
         operations > cost::dotOperations) ||
        model.axesOf(op.getAxes()) != axisBit(launch.lane))
      continue;
    auto [onlyLeft, onlyRight] =
        ownAxes(model, op.getInputs()[0], launch.parallel & ~uneven);
    if (!onlyLeft || !onlyRight)
      continue;
    unsigned rows = onlyLeft.last(), columns = onlyRight.last();
    unsigned side = target.vectorRegisters >= 32 ? 4 : 2;
    llvm::erase_if(launch.axes, [&](const AxisPlan &plan) {
      return plan.axis == rows || plan.axis == columns;
    });
    // Columns of a tile are read once for its rows. Copies of a long operand
    // cost code and gain nothing: that it serves several sums is due to copies
    // of the other axis.
    for (auto [axis, other] : {std::pair(rows, columns), {columns, rows}}) {
      bool isLong =
          (operationsAlong(axis, axisBit(other)) > cost::dotLongOperand ||
           readsPlaces(model, axis, other)) &&
          operationsAlong(other, axisBit(axis)) <= cost::dotOperations &&
          !readsPlaces(model, other, axis);
      launch.axes.push_back({.axis = axis,
                             .copies = isLong ? 1 : side,
                             .tile = (axis == rows ? 16 : 4) * side,
                             .repeats = !isLong && !target.isGpu()});
    }
    launch.dots = true;
    launch.taskElements = cost::taskCopies;
    return true;
  }
  return false;
}
