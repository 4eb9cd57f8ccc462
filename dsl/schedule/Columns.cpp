// Finds column reductions that are worth rows of states.
#include "dsl/schedule/Columns.h"

#include "dsl/dialect/Behind.h"
#include "dsl/schedule/Contraction.h"
#include "dsl/schedule/ScheduleChooser.h"

using namespace mlir;
using namespace quern;

/// Whether everything behind `values` is read at its own axes.
static bool readsInPlace(ValueRange values) {
  return !walkBehind(values, [](Operation *op) {
    auto load = dyn_cast<qn::LoadOp>(op);
    bool isElsewhere = load && !load.getIndices().empty();
    return isElsewhere || isa<qn::ScanOp>(op) ? WalkResult::interrupt()
                                              : WalkResult::advance();
  });
}

/// Operands read along rows and lanes, whose rows may follow each other in
/// memory; none where `values` know in which row or column they are.
static SmallVector<Value> flatOperands(const KernelModel &model,
                                       ValueRange values, unsigned rows,
                                       unsigned lane) {
  SmallVector<Value> found;
  AxisSet both = axisBit(rows) | axisBit(lane);
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open = llvm::to_vector(values);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(op).second || !(model.axesOf(value) & both))
      continue;
    auto load = dyn_cast<qn::LoadOp>(op);
    if (!load) {
      if (op->getNumRegions() || op->getDialect()->getNamespace() == "qn")
        return {};
      llvm::append_range(open, op->getOperands());
      continue;
    }
    qn::OperandType type = load.getTensor().getType();
    for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides())) {
      unsigned axis = model.axisOf(name);
      if ((axis == lane && stride != StrideClass::One) ||
          (axis == rows && stride == StrideClass::Zero))
        return {};
    }
    if ((model.axesOf(type) & both) != both)
      return {};
    if (!llvm::is_contained(found, load.getTensor()))
      found.push_back(load.getTensor());
  }
  return found;
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
  AxisSet declared = AxisSet::below(model.declaredAxes());
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
  columns.inRuns = !columns.before.empty() &&
                   llvm::any_of(columns.members, KernelModel::addsRounding);
  SmallVector<Value> read;
  for (qn::ReduceOp op : columns.members)
    llvm::append_range(read, op.getOperands());
  bool ordered = llvm::any_of(columns.members,
                              [](qn::ReduceOp op) { return op.getOrdered(); });
  if (!ordered)
    columns.flat = flatOperands(model, read, columns.rows, lane);
  else if (!columns.before.empty())
    return std::nullopt;
  return columns;
}

/// Launches that add rows of operands to rows of states, then merge those.
void ScheduleChooser::addStateRows(const LaunchPlan &launch, Columns found,
                                   Value when,
                                   SmallVectorImpl<LaunchPlan> &all) {
  found.lanes = lanes;
  auto columns = std::make_shared<const Columns>(std::move(found));
  LaunchPlan parts;
  parts.stores = launch.stores;
  parts.parallel = launch.parallel;
  parts.when = when;
  parts.columns = columns;
  parts.tiling = launch.tiling;
  parts.lane = launch.lane;
  parts.taskElements = 65536;
  for (unsigned axis : columns->outer)
    parts.axes.push_back(AxisPlan{.axis = axis});
  AxisPlan lane{.axis = columns->lane, .lanes = lanes, .copies = 2};
  lane.tile = columns->width;
  LaunchPlan merge = parts;
  parts.kind = LaunchKind::ColumnParts;
  parts.axes.push_back(
      AxisPlan{.axis = columns->rows, .tile = columns->partRows});
  parts.axes.push_back(lane);
  all.push_back(std::move(parts));
  merge.kind = LaunchKind::ColumnMerge;
  merge.axes.push_back(lane);
  all.push_back(std::move(merge));
}

/// Lanes along columns read few neighbours of many rows: slow, unless the rows
/// are few. Else whole rows are added to rows of states.
void ScheduleChooser::addColumns(LaunchPlan launch, Columns found,
                                 SmallVectorImpl<LaunchPlan> &all) {
  Value pays = host.isAtLeast(host.extent(found.rows), found.worthwhile);
  addStateRows(launch, std::move(found), pays, all);
  launch.when = host.negated(pays);
  launch.columns = all.back().columns;
  all.push_back(std::move(launch));
}
