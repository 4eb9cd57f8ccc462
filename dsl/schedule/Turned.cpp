// Operands that have their neighbours across the lanes: which axis they lie
// along, and the tiles that are transposed.
#include "dsl/schedule/Turned.h"
#include "dsl/cost/Parameters.h"
#include "dsl/dialect/Behind.h"
#include "dsl/schedule/ScheduleChooser.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace quern;

int quern::neighboursOf(const KernelModel &model, qn::LoadOp load) {
  qn::OperandType type = load.getTensor().getType();
  for (auto [index, stride] : llvm::zip(load.getIndices(), type.getStrides()))
    if (auto own = index.getDefiningOp<qn::IndexOp>();
        own && stride == StrideClass::One)
      return model.axisOf(own.getAxis());
  return -1;
}

/// A parallel axis along which some operand has its neighbours while the lanes
/// run across them, or -1.
int ScheduleChooser::turnedAxis(const LaunchPlan &launch) const {
  int found = -1;
  if (operations > cost::turnedOperations && !target.isGpu())
    return found;
  model.kernel.getBody().walk([&](qn::LoadOp load) {
    // Memory of a GPU's block holds no truth values.
    if (!target.isGpu() || !load.getType().isInteger(1))
      found = launch.alongTurned(model, load).value_or(found);
    // Gathers of a square touch each cache line as often as it has elements.
    if (int along = neighboursOf(model, load);
        !target.isGpu() && along >= 0 && along != launch.lane &&
        hasAxis(launch.parallel, along) &&
        hasAxis(model.axesOf(load.getResult()), launch.lane))
      found = along;
  });
  return found;
}

SmallVector<qn::LoadOp>
LaunchPlan::turnedOperands(const KernelModel &model) const {
  llvm::SmallSetVector<qn::LoadOp, 4> loads;
  for (qn::StoreOp store : stores)
    walkBehind(store.getValue(), [&](Operation *op) {
      auto load = dyn_cast<qn::LoadOp>(op);
      if (turned >= 0 && load && load->getBlock() == &model.kernel.block() &&
          alongTurned(model, load) == turned &&
          !(model.axesOf(load.getTensor().getType()) & ~parallel))
        loads.insert(load);
      return WalkResult::advance();
    });
  return loads.takeVector();
}

std::optional<int> LaunchPlan::alongTurned(const KernelModel &model,
                                           qn::LoadOp load) const {
  qn::OperandType type = load.getTensor().getType();
  if (!load.getIndices().empty() || !type.getElementType().isIntOrFloat() ||
      !hasAxis(model.axesOf(type), lane))
    return std::nullopt;
  std::optional<int> found;
  for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
    if (int axis = model.axisOf(name);
        stride == StrideClass::One && hasAxis(parallel, axis) && axis != lane)
      found = axis;
  return found;
}

/// What runs instead of squares where lines of the results are shorter: lanes
/// run along the operand. Nothing where the launch has no squares.
std::optional<LaunchPlan>
ScheduleChooser::narrowLines(const LaunchPlan &launch) {
  if (launch.kind != LaunchKind::Stores || launch.turned < 0)
    return std::nullopt;
  LaunchPlan narrow = launch;
  narrow.when =
      host.isBelow(host.extent(launch.lane), launch.axes.back().copies);
  narrow.interleaves = true;
  narrow.lane = launch.turned;
  narrow.turned = -1;
  narrow.streams = false;
  narrow.axes.pop_back_n(2);
  narrow.axes.push_back(AxisPlan{.axis = unsigned(launch.turned),
                                 .lanes = launch.axes.end()[-2].lanes,
                                 .tile = cost::narrowRun});
  narrow.axes.push_back(AxisPlan{.axis = unsigned(launch.lane),
                                 .tile = launch.axes.back().copies});
  return narrow;
}

/// The launch for operands with lines of a few elements, such as the channels
/// of an image.
SmallVector<LaunchPlan, 2> ScheduleChooser::deinterleaved(LaunchPlan &launch) {
  if (launch.turnedOperands(model).empty())
    return {};
  LaunchPlan made = launch;
  Value line = host.extent(launch.turned);
  Value isShort = host.both(host.isAtLeast(line, 2),
                            host.isAtMost(line, cost::deinterleavedLine));
  made.deinterleaves = true;
  made.when = host.both(launch.when, isShort);
  launch.when = host.both(launch.when, host.negated(isShort));
  return {made};
}

/// Squares of the two axes, as many side by side as a vector has room for: a
/// tile of them is read and written by whole cache lines. A tile is long along
/// the lanes, so that results are written in runs, and the tiles that lie
/// beside each other in the operand follow each other: its pages are at hand.
void ScheduleChooser::planTurned(LaunchPlan &launch, unsigned turned) {
  unsigned side = squareSide(lanes, target.vectorBytes);
  std::int64_t run = std::max(cost::turnedLine, cost::turnedLineBytes * lanes /
                                                    target.vectorBytes);
  launch.turned = turned;
  llvm::erase_if(launch.axes,
                 [&](const AxisPlan &plan) { return plan.axis == turned; });
  launch.axes.push_back(
      AxisPlan{.axis = unsigned(launch.lane), .lanes = lanes, .tile = run});
  launch.axes.push_back(
      AxisPlan{.axis = turned, .copies = side, .tile = 4 * side});
  launch.taskElements = cost::turnedTask;
}
