// Finds column reductions that are worth rows of states.
#include "dsl/schedule/Columns.h"

#include "dsl/schedule/Contraction.h"

using namespace mlir;
using namespace quern;

/// Whether everything behind `values` is read at its own axes.
static bool readsInPlace(ValueRange values) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open = llvm::to_vector(values);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto load = dyn_cast<qn::LoadOp>(op);
    if ((load && !load.getIndices().empty()) || isa<qn::ScanOp>(op))
      return false;
    llvm::append_range(open, op->getOperands());
  }
  return true;
}

std::optional<Columns> quern::findColumns(const KernelModel &model,
                                          ArrayRef<qn::StoreOp> stores,
                                          AxisSet parallel, unsigned lane) {
  Columns columns;
  for (qn::ReduceOp op : reductionsBehind(stores, /*all=*/true))
    if (!model.isMaterialised(op))
      columns.members.push_back(op);
  if (columns.members.empty())
    return std::nullopt;
  qn::ReduceOp first = columns.members.front();
  AxisSet reduced = model.axesOf(first.getAxes());
  AxisSet declared = axisBit(model.declaredAxes()) - 1;
  for (qn::ReduceOp op : columns.members)
    if (op.getPortable() || op.getAxes() != first.getAxes() ||
        model.factsOf(op->getResult(0)).rank != 1 ||
        model.axesOf(op->getResult(0)) != parallel || (reduced & ~declared) ||
        !readsInPlace(op.getOperands()))
      return std::nullopt;
  for (qn::StoreOp store : stores)
    if (model.factsOf(store).axes != parallel)
      return std::nullopt;
  columns.lane = lane;
  columns.outer = axisList(parallel & ~axisBit(lane));
  columns.before = axisList(reduced);
  columns.rows = columns.before.pop_back_val();
  return columns;
}
