// What a GPU does otherwise where extents allow it: reductions with few results
// in parts, squares of operands that are turned.
#include "dsl/cost/Parameters.h"
#include "dsl/schedule/ScheduleChooser.h"

using namespace mlir;
using namespace quern;

/// How the reductions behind a launch are made of parts.
std::optional<Columns>
ScheduleChooser::partsOf(const LaunchPlan &launch) const {
  bool isTile = llvm::any_of(launch.axes, [&](const AxisPlan &axis) {
    return static_cast<int>(axis.axis) != launch.lane && axis.copies > 1;
  });
  if (launch.kind != LaunchKind::Stores || launch.lane < 0 || uneven || isTile)
    return std::nullopt;
  auto found = findColumns(model, launch.stores, launch.parallel, launch.lane);
  if (!found)
    return std::nullopt;
  found->flat.clear();
  found->mostParts = cost::gpuPartsMost;
  unsigned lane = launch.lane;
  if (hasAxis(launch.parallel, lane)) {
    found->partRows = cost::gpuPartRows;
    found->worthwhile = cost::gpuPartsFrom;
    return scores[lane] > 0 ? found : std::nullopt;
  }
  found->isRow = true;
  found->before.push_back(found->rows);
  if (!llvm::is_contained(found->before, lane))
    return std::nullopt;
  bool isOnly = found->before.size() == 1;
  found->rows =
      isOnly || found->before[0] != lane ? found->before[0] : found->before[1];
  llvm::erase(found->before, found->rows);
  found->partRows = isOnly ? cost::gpuPartElements : 1;
  found->worthwhile = isOnly ? cost::gpuElementsFrom : cost::gpuWholeFrom;
  return found;
}

/// Whether a launch of a GPU writes neighbours along its lanes, element by
/// element, and reads some along another axis.
bool ScheduleChooser::canTurn(const LaunchPlan &launch) const {
  if (launch.kind != LaunchKind::Stores || launch.lane < 0 ||
      !hasAxis(launch.parallel, launch.lane) || !model.scans.empty())
    return false;
  for (qn::StoreOp store : launch.stores) {
    ValueFacts facts = model.factsOf(store);
    qn::OperandType type = store.getTensor().getType();
    bool isAlong = false;
    for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
      isAlong |= stride == StrideClass::One &&
                 static_cast<int>(model.axisOf(name)) == launch.lane;
    if (facts.combined || facts.axes != launch.parallel || !isAlong)
      return false;
  }
  return true;
}

/// Whether units are few, and what each reduces is long.
Value ScheduleChooser::partsPay(const LaunchPlan &launch,
                                const Columns &columns) {
  Value units = host.number(1);
  for (unsigned axis : axisList(launch.parallel)) {
    Value count = host.extent(axis);
    if (!columns.isRow && axis == columns.lane)
      count = host.parts(count, host.number(4 * std::int64_t(target.warp)));
    units = host.multiply(units, count);
  }
  std::int64_t most = columns.isRow ? cost::gpuRowsMost : cost::gpuColumnsMost;
  Value isLong = host.isAtLeast(host.extent(columns.rows), columns.worthwhile);
  return host.both(isLong, host.isAtMost(units, most));
}

/// The extents decide which of both runs: the launch as it was, or parts and
/// their merge.
void ScheduleChooser::addParts() {
  if (model.kernel.getStaged())
    return;
  SmallVector<LaunchPlan, 2> all;
  for (LaunchPlan &launch : launches) {
    if (auto found = partsOf(launch)) {
      launch.columns = std::make_shared<const Columns>(std::move(*found));
      const Columns &columns = *launch.columns;
      Value pays = partsPay(launch, columns);
      LaunchPlan merge = launch;
      merge.kind = LaunchKind::ColumnMerge;
      merge.when = pays;
      merge.axes.clear();
      for (unsigned axis : axisList(launch.parallel))
        merge.axes.push_back(AxisPlan{.axis = axis});
      LaunchPlan parts = merge;
      parts.kind = LaunchKind::ColumnParts;
      parts.axes.push_back(AxisPlan{.axis = columns.rows,
                                    .tile = columns.partRows,
                                    .most = columns.mostParts});
      launch.when = host.negated(pays);
      all.push_back(std::move(launch));
      all.push_back(std::move(parts));
      all.push_back(std::move(merge));
      continue;
    }
    if (canTurn(launch))
      launch.turned = turnedAxis(launch);
    if (launch.turned >= 0) {
      LaunchPlan squares = launch;
      squares.when = host.isAtLeast(
          host.extent(std::exchange(launch.turned, -1)), cost::gpuTurnedFrom);
      launch.when = host.negated(squares.when);
      all.push_back(std::move(squares));
    }
    all.push_back(std::move(launch));
  }
  launches = std::move(all);
}
