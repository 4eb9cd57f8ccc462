// Short rows: how many of them a unit has, and which are made side by side.
#include "dsl/cost/Parameters.h"
#include "dsl/schedule/ScheduleChooser.h"

using namespace mlir;
using namespace quern;

AxisSet ScheduleChooser::combinedOf(const LaunchPlan &launch) const {
  AxisSet combined;
  for (qn::StoreOp store : launch.stores)
    combined |= model.factsOf(store).combined;
  return combined;
}

/// A unit of one short row would mostly look for its place, and compute again
/// what its neighbours have in common: it gets several, fewer where each of
/// them is added up from some elements.
void ScheduleChooser::planShortRows(LaunchPlan &launch) const {
  AxisSet combined = combinedOf(launch);
  if (launch.axes.empty() || target.isGpu() ||
      (combined & AxisSet::below(model.declaredAxes())))
    return;
  AxisPlan &plan = launch.axes.back();
  plan.narrow = combined ? cost::shortRowSums : cost::shortRowRows;
  plan.narrowBelow = cost::shortRow;
  plan.narrowBy = {unsigned(launch.lane)};
}

/// Tiles of sums, or one row after the other. What merges the lanes of a row is
/// a chain, and most of the time of a short one: several of these are made side
/// by side, none waiting for the others' chains. Of sums over several axes
/// those are short of which all positions together are few.
void ScheduleChooser::planReduced(LaunchPlan &launch) {
  std::int64_t rows =
      operations <= cost::besideLight ? cost::besideMost : cost::besideMost / 2;
  bool isOrdered = llvm::any_of(
      model.reductions, [](qn::ReduceOp op) { return op.getOrdered(); });
  bool isDots = planDots(launch);
  launch.streams = launch.streamsRows = writesRows(launch);
  if (isDots || !model.kernel.getShortRows() || target.isGpu() || isOrdered ||
      launch.lane < 0 || model.localAxis(launch.lane) || launch.axes.empty() ||
      hasAxis(uneven, launch.axes.back().axis) ||
      operations > cost::besideOperations)
    return;
  AxisPlan &plan = launch.axes.back();
  plan.copies = rows;
  plan.narrow = cost::besideUnits * rows;
  plan.narrowBelow = cost::shortRow;
  plan.narrowBy = {unsigned(launch.lane)};
  AxisSet others = combinedOf(launch) & ~launch.parallel;
  for (unsigned axis = 0; axis < model.declaredAxes(); ++axis)
    if (hasAxis(others, axis) && static_cast<int>(axis) != launch.lane)
      plan.narrowBy.push_back(axis);
  launch.again = plan.narrowBy.size() > 1;
  if (launch.again) {
    plan.several = rows;
    plan.severalFrom = rows * cost::besideUnits * target.cores;
  }
  std::int64_t longestBeside = cost::shortVectors * lanes;
  if (portableAxis(launch))
    longestBeside = std::min<std::int64_t>(
        longestBeside, AxisPlan::portable(launch.lane).lanes);
  plan.copiesBelow = longestBeside + 1;
  launch.together = true;
  launch.firstRows = orderOfRows(launch);
}

/// Out of the last cache the lines of a row come sooner one after the other
/// than those of several rows in turns: rows of several lines are first read
/// like that. Afterwards they are near, and chains of several rows overlap, as
/// they do where arithmetic takes the time. Masks cost up to a sixth in the
/// caches; but where rows are written as well, loops without them run ahead of
/// the stores, and out of the last cache gain less.
RowOrder LoopChoice::orderOfRows(const LaunchPlan &launch) const {
  constexpr unsigned line = 64; // bytes of a cache line
  if (operationsAlong(launch.lane) > cost::rowByRow ||
      cost::shortVectors * target.vectorBytes <= line)
    return RowOrder::InTurns;
  bool writes = llvm::any_of(launch.stores, [&](qn::StoreOp store) {
    return hasAxis(model.factsOf(store).axes, launch.lane);
  });
  return writes ? RowOrder::Masked : RowOrder::Whole;
}
