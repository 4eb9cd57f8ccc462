// Finds the axes of windows and plans launches that reduce over them.
#include "dsl/schedule/Windows.h"

#include "dsl/schedule/Contraction.h"
#include "dsl/schedule/Schedule.h"

using namespace mlir;
using namespace quern;

/// Calls `visit` with the axes of every position that may lie outside, and of
/// every condition, behind `value`.
static void eachBound(const KernelModel &model, Value value,
                      llvm::function_ref<void(AxisSet)> visit) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || isa<qn::ReduceOp>(op) || !seen.insert(op).second)
      continue;
    auto load = dyn_cast<qn::LoadOp>(op);
    if (!load) {
      llvm::append_range(open, op->getOperands());
      continue;
    }
    if (load.getWhen())
      visit(model.axesOf(load.getWhen()));
    ArrayRef<StringAttr> names = load.getTensor().getType().getAxes();
    if (load.getOutside())
      for (auto [index, name] : llvm::zip(load.getIndices(), names)) {
        auto own = index.getDefiningOp<qn::IndexOp>();
        if (!own || own.getAxis() != name)
          visit(model.axesOf(index));
      }
  }
}

AxisSet quern::boundingAxes(const KernelModel &model, Value value) {
  AxisSet axes = 0;
  eachBound(model, value, [&](AxisSet bound) { axes |= bound; });
  return axes;
}

AxisSet quern::boundingPartners(const KernelModel &model, Value value,
                                AxisSet with) {
  AxisSet axes = 0;
  eachBound(model, value, [&](AxisSet bound) {
    if (bound & with)
      axes |= bound & ~with;
  });
  return axes;
}

int quern::windowAxis(const KernelModel &model, ArrayRef<qn::StoreOp> stores,
                      AxisSet parallel, unsigned lane) {
  AxisSet found = 0;
  for (qn::ReduceOp op : reductionsBehind(stores, /*all=*/true)) {
    if (op.getPortable() || op.getInits().size() > 2 ||
        model.axesOf(op->getResult(0)) != parallel)
      return -1;
    AxisSet summed = model.axesOf(op.getAxes());
    for (Value input : op.getInputs())
      found |= boundingPartners(model, input, summed);
  }
  found &= parallel & ~axisBit(lane);
  return found ? static_cast<int>(llvm::Log2_64(found)) : -1;
}

/// A few windows at once, enough to hide how long a sum takes; lanes along
/// what is stored.
void Schedule::planWindow(LaunchPlan &launch, unsigned rows, unsigned lane) {
  constexpr unsigned height = 4;
  launch.axes.push_back(
      AxisPlan{.axis = rows, .copies = height, .tile = 4 * height});
  launch.axes.push_back(
      AxisPlan{.axis = lane, .lanes = lanes, .tile = 4 * lanes});
  launch.taskElements = 65536;
}
