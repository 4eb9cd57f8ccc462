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

/// Tiles of sums, or one row after the other.
void ScheduleChooser::planReduced(LaunchPlan &launch) {
  planDots(launch);
  launch.streams = launch.streamsRows = writesRows(launch);
}

/// Whether rows may be made side by side where they are short.
bool ScheduleChooser::mayBeShort(const LaunchPlan &launch) const {
  if (launch.kind != LaunchKind::Stores || launch.dots || launch.lane < 0 ||
      hasAxis(launch.parallel, launch.lane) || model.localAxis(launch.lane) ||
      launch.axes.empty() || hasAxis(uneven, launch.axes.back().axis) ||
      scores[launch.lane] <= 0 || operations > cost::besideOperations)
    return false;
  bool reduces = false;
  for (qn::ReduceOp op : reductionsBehind(launch.stores, /*all=*/true)) {
    reduces |= hasAxis(model.axesOf(op.getAxes()), launch.lane);
    if (op.getOrdered())
      return false;
  }
  return reduces;
}

/// The lanes of a row are merged by a chain of dependent operations, which takes
/// most of the time of a short row. Several short rows are therefore reduced
/// together, so that their chains overlap. A sum over several axes is short if
/// the product of their extents is small. If only its innermost axis is short,
/// the loop along that axis runs again for each position of the other axes.
SmallVector<LaunchPlan, 2> ScheduleChooser::shortRows(LaunchPlan &launch) {
  if (!mayBeShort(launch))
    return {};
  std::int64_t rows =
      operations <= cost::besideLight ? cost::besideMost : cost::besideMost / 2;
  std::int64_t unit = cost::besideUnits * rows;
  std::int64_t longest = cost::shortVectors * lanes;
  if (portableAxis(launch))
    longest =
        std::min<std::int64_t>(longest, AxisPlan::portable(launch.lane).lanes);
  SmallVector<unsigned> along{unsigned(launch.lane)};
  AxisSet others = combinedOf(launch) & ~launch.parallel;
  for (unsigned axis = 0; axis < model.declaredAxes(); ++axis)
    if (hasAxis(others, axis) && static_cast<int>(axis) != launch.lane)
      along.push_back(axis);
  LaunchPlan beside = launch;
  beside.when = host.isAtMost(host.extentOf(along), longest);
  beside.together = true;
  beside.again = along.size() > 1;
  beside.firstRows = orderOfRows(launch);
  beside.axes.back().copies = rows;
  beside.axes.back().tile = unit;
  launch.when = host.negated(beside.when);
  if (!beside.again)
    return {beside};
  LaunchPlan again = launch;
  Value isLine = host.isAtMost(host.extent(launch.lane), cost::shortLine);
  again.when = host.both(launch.when, isLine);
  again.again = true;
  AxisPlan &plan = again.axes.back();
  plan.narrow = unit;
  plan.narrowBelow = cost::shortRow;
  plan.narrowBy.assign(along.begin(), along.end());
  plan.several = rows;
  plan.severalFrom = unit * target.cores;
  launch.when = host.both(launch.when, host.negated(isLine));
  return {beside, again};
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
