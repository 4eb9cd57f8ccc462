// Positions that lanes compute and that several rows share: borders, mirrors,
// weights between neighbours.
#include "dsl/cost/Parameters.h"
#include "dsl/dialect/Behind.h"
#include "dsl/schedule/ScheduleChooser.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// Which lanes of a load lie inside is a mask that the rows share.
static bool hasBorders(const KernelModel &model, qn::LoadOp load, int lane) {
  auto axes = load.getTensor().getType().getAxes();
  return load.getOutside() &&
         llvm::any_of(llvm::zip(load.getIndices(), axes), [&](auto pair) {
           auto [index, axis] = pair;
           auto own = dyn_cast_or_null<qn::IndexOp>(index.getDefiningOp());
           return hasAxis(model.axesOf(index), lane) &&
                  !(own && own.getAxisAttr() == axis);
         });
}

/// How many operations lanes have in common along an axis.
static unsigned sharedAlong(const KernelModel &model, int lane, unsigned axis) {
  unsigned shared = 0;
  model.kernel.getBody().walk([&](Operation *op) {
    if (!isa<arith::ArithDialect>(op->getDialect()) ||
        isa<arith::ConstantOp>(op))
      return;
    AxisSet axes = model.axesOf(op->getResult(0));
    shared += hasAxis(axes, lane) && !hasAxis(axes, axis);
  });
  return shared;
}

/// A parallel axis along which what the lanes compute of their places stays the
/// same, or -1: the rows of a tile have it once, in a loop inside of the
/// lanes'. Of a long body that has to be most.
int ScheduleChooser::placesAxis(const LaunchPlan &launch) const {
  unsigned least =
      operations > cost::placesLongBody ? operations / 2 : cost::placesLeast;
  bool places = false, borders = false;
  AxisSet moving;
  model.kernel.getBody().walk([&](qn::LoadOp load) {
    borders |= hasBorders(model, load, launch.lane);
    if (!load.getIndices().empty() && gathers(model, load, launch.lane))
      places = true;
  });
  places |= borders;
  if (!places || target.isGpu() || uneven)
    return -1;
  for (qn::StoreOp store : launch.stores)
    moving |= model.axesOf(store.getTensor().getType());
  int found = -1;
  unsigned most = least - 1;
  for (unsigned axis = 0; axis < model.declaredAxes(); ++axis) {
    if (!hasAxis(launch.parallel & moving, axis) ||
        static_cast<int>(axis) == launch.lane)
      continue;
    unsigned shared = sharedAlong(model, launch.lane, axis) +
                      (borders ? cost::placesLeast : 0);
    // Of those that share as much the last one has its rows closest together.
    if (shared >= std::max(most, least)) {
      most = shared;
      found = axis;
    }
  }
  return found;
}

/// Whether a step of a sum reads what all lanes have in common.
static bool sharesSteps(const KernelModel &model, qn::ReduceOp sum, int lane) {
  AxisSet steps = model.axesOf(sum.getAxes());
  auto isShared = [&](Operation *op) {
    auto load = dyn_cast<qn::LoadOp>(op);
    AxisSet axes = load ? model.axesOf(load.getResult()) : AxisSet();
    return (axes & steps) && !hasAxis(axes, lane) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
  };
  return walkBehind(sum.getInputs(), isShared);
}

/// What finds and weighs the row of a step costs as much for one vector of sums
/// as for many: half of the registers hold sums, and what is left of a row goes
/// by as many vectors as elsewhere, then by half as many.
void ScheduleChooser::widenShared(const LaunchPlan &launch,
                                  AxisPlan &plan) const {
  auto sums = reductionsBehind(launch.stores, /*all=*/true);
  llvm::erase_if(sums, [&](qn::ReduceOp op) {
    return !hasAxis(model.axesOf(op->getResult(0)), launch.lane);
  });
  if (target.isGpu() || sums.size() != 1 || sums[0].getInits().size() != 1 ||
      !sharesSteps(model, sums[0], launch.lane))
    return;
  plan.copiesOfRest = plan.copies;
  plan.copies = std::max(plan.copies, target.vectorRegisters / 2);
}

/// Where little is shared, memory past the caches is better read and written a
/// few rows at a time than in as many streams as a tile has rows.
void ScheduleChooser::planPlaces(LaunchPlan &launch, unsigned rows) {
  unsigned together = operations > cost::placesLongBody ? 1 : 4;
  llvm::erase_if(launch.axes,
                 [&](const AxisPlan &plan) { return plan.axis == rows; });
  AxisPlan plan = laneLoop(launch.lane, /*reduces=*/false);
  plan.copies = 1;
  plan.tile = cost::placesLine;
  launch.axes.push_back(plan);
  AxisPlan across{.axis = rows, .copies = together, .tile = cost::placesRows};
  if (sharedAlong(model, launch.lane, rows) <= cost::placesLittle &&
      together < cost::placesRows) {
    qn::OperandType type = launch.stores.front().getTensor().getType();
    across.tile = together;
    across.repeats = true;
    across.narrow = cost::placesRows;
    across.narrowBelow =
        target.l3Bytes / (2 * storedBytes(type.getElementType()));
    for (const AxisPlan &axis : launch.axes)
      across.narrowBy.push_back(axis.axis);
    across.narrowBy.push_back(rows);
  }
  launch.axes.push_back(across);
}

/// Tiles of rows by lanes, where something is shared among rows.
bool ScheduleChooser::planTwoAxes(LaunchPlan &launch) {
  if (int turned = turnedAxis(launch); turned >= 0)
    planTurned(launch, turned);
  else if (int across = placesAxis(launch); across >= 0)
    planPlaces(launch, across);
  else
    return false;
  launch.streams = onlyNeighbours(launch);
  return true;
}

/// Whether rows are reduced and then written, neighbouring elements by lanes.
/// What is costly waits in the result for its turn, and so in the caches.
bool ScheduleChooser::writesRows(const LaunchPlan &launch) const {
  if (target.isGpu() || launch.lane < 0 || launch.dots || isLong(1) ||
      launch.kind != LaunchKind::Stores || model.localAxis(launch.lane) ||
      model.joinedAlong(launch.lane) || hasAxis(uneven, launch.lane))
    return false;
  bool writes = false;
  for (qn::StoreOp store : launch.stores) {
    qn::OperandType type = store.getTensor().getType();
    if (!hasAxis(model.axesOf(type), launch.lane))
      continue;
    writes = true;
    if (!type.getElementType().isIntOrFloat())
      return false;
    for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
      if (static_cast<int>(model.axisOf(name)) == launch.lane &&
          stride != StrideClass::One)
        return false;
  }
  return writes;
}
