// Finds the axes of windows and plans launches that reduce over them.
#include "dsl/schedule/Windows.h"
#include "dsl/cost/Parameters.h"

#include "dsl/dialect/Behind.h"
#include "dsl/schedule/Contraction.h"
#include "dsl/schedule/ScheduleChooser.h"

using namespace mlir;
using namespace quern;

/// The loads behind `value`, up to reductions.
static SmallVector<qn::LoadOp> loadsBehind(Value value) {
  SmallVector<qn::LoadOp> loads;
  walkBehind(value, [&](Operation *op) {
    auto load = dyn_cast<qn::LoadOp>(op);
    if (load)
      loads.push_back(load);
    return load || isa<qn::ReduceOp>(op) ? WalkResult::skip()
                                         : WalkResult::advance();
  });
  return loads;
}

void quern::eachBound(const KernelModel &model, Value value,
                      llvm::function_ref<void(qn::LoadOp, unsigned)> visit) {
  for (qn::LoadOp load : loadsBehind(value)) {
    if (!load.getOutside())
      continue;
    ArrayRef<StringAttr> names = load.getTensor().getType().getAxes();
    for (unsigned number = 0; number < load.getIndices().size(); ++number) {
      auto own = load.getIndices()[number].getDefiningOp<qn::IndexOp>();
      if (!own || own.getAxis() != names[number])
        visit(load, number);
    }
  }
}

AxisSet quern::boundingAxes(const KernelModel &model, Value value) {
  AxisSet axes;
  eachBound(model, value, [&](qn::LoadOp load, unsigned number) {
    axes |= model.axesOf(load.getIndices()[number]);
  });
  for (qn::LoadOp load : loadsBehind(value))
    if (load.getWhen())
      axes |= model.axesOf(load.getWhen());
  return axes;
}

AxisSet quern::boundingPartners(const KernelModel &model, Value value,
                                AxisSet with) {
  AxisSet axes;
  eachBound(model, value, [&](qn::LoadOp load, unsigned number) {
    AxisSet bound = model.axesOf(load.getIndices()[number]);
    if (bound & with)
      axes |= bound & ~with;
  });
  return axes;
}

int quern::windowAxis(const KernelModel &model, ArrayRef<qn::StoreOp> stores,
                      AxisSet parallel, unsigned lane) {
  AxisSet found, own = parallel;
  for (qn::ReduceOp op : reductionsBehind(stores, /*all=*/true)) {
    AxisSet axes = model.axesOf(op->getResult(0));
    if (op.getPortable() || op.getInits().size() > 2 || axes & ~parallel)
      return -1;
    own &= axes;
    AxisSet summed = model.axesOf(op.getAxes());
    for (Value input : op.getInputs())
      found |= boundingPartners(model, input, summed);
  }
  if (!hasAxis(own, lane))
    return -1;
  found &= own & ~axisBit(lane);
  return found ? static_cast<int>(found.last()) : -1;
}

/// Whether every row of results reads the whole of what its lanes read: nothing
/// lies along a parallel axis but the windows' and the lanes'.
static bool readsWhole(const KernelModel &model, const LaunchPlan &launch,
                       unsigned lane) {
  return llvm::all_of(
      reductionsBehind(launch.stores, /*all=*/true), [&](qn::ReduceOp op) {
        return llvm::all_of(op.getInputs(), [&](Value input) {
          return llvm::none_of(loadsBehind(input), [&](qn::LoadOp load) {
            return llvm::any_of(
                load.getTensor().getType().getAxes(), [&](StringAttr name) {
                  unsigned axis = model.axisOf(name);
                  return axis != lane && hasAxis(launch.parallel, axis);
                });
          });
        });
      });
}

/// A few windows at once, enough to hide how long a sum takes; lanes along
/// what is stored. What all of them read is read by a vector's windows one
/// after the other, from the caches. `once`: all turns along the lanes are
/// masked.
void ScheduleChooser::planWindow(LaunchPlan &launch, unsigned rows,
                                 unsigned lane, bool once) {
  constexpr auto height = unsigned(cost::windowRows);
  AxisPlan across{.axis = rows,
                  .copies = height,
                  .tile = std::int64_t(4) * height,
                  .repeatsRest = true};
  AxisPlan along{.axis = lane,
                 .lanes = lanes,
                 .tile = std::int64_t(4) * lanes,
                 .once = once};
  launch.axes.push_back(across);
  if (readsWhole(model, launch, lane)) {
    along.tile = lanes;
    launch.axes.insert(launch.axes.begin(), along);
  } else {
    launch.axes.push_back(along);
  }
  launch.taskElements = 65536;
  launch.windows = true;
}

/// One row of windows has nothing that a register tile would share: as without
/// a contraction, lanes run along the results.
std::optional<LaunchPlan>
ScheduleChooser::rowOfWindows(const LaunchPlan &launch, const Tiling &tiling) {
  unsigned lane = tiling.columns.back();
  int windows = windowAxis(model, launch.stores, launch.parallel, lane);
  if (tiling.products.size() != 1 || tiling.pairs || windows < 0)
    return std::nullopt;
  LaunchPlan row;
  row.stores = launch.stores;
  row.parallel = launch.parallel;
  row.lane = lane;
  for (unsigned axis : axisList(launch.parallel))
    if (axis != lane && static_cast<int>(axis) != windows)
      row.axes.push_back(AxisPlan{.axis = axis});
  planWindow(row, windows, lane, /*once=*/true);
  return row;
}

/// Whether neighbours along an axis are read from places apart.
static bool isApart(const KernelModel &model, Value index, unsigned axis) {
  return !holdsBehind(index, [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!hasAxis(model.axesOf(value), axis) || !op || isa<qn::IndexOp>(op))
      return Found::Yes;
    return isa<arith::MulIOp>(op) ? Found::No : Found::IfBehind;
  });
}

/// Whether positions along an axis are neighbours in all that is read at them.
static bool areNeighbours(const KernelModel &model, unsigned axis) {
  WalkResult walked = model.kernel.getBody().walk([&](qn::LoadOp load) {
    ArrayRef<StrideClass> strides = load.getTensor().getType().getStrides();
    bool isAcross =
        llvm::any_of(llvm::zip(load.getIndices(), strides), [&](auto pair) {
          auto [index, stride] = pair;
          return hasAxis(model.axesOf(index), axis) &&
                 stride == StrideClass::Dynamic;
        });
    return isAcross ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

/// Where lines of the results are shorter than half a vector and than the
/// windows, lanes run along those that lie in lines too; and along long windows
/// wherever lanes along the results would gather.
std::optional<LaunchPlan>
ScheduleChooser::alongWindows(const LaunchPlan &launch) {
  if (launch.lane < 0 || !hasAxis(launch.parallel, launch.lane) ||
      launch.axes.empty() || launch.kind != LaunchKind::Stores ||
      portableAxis(launch))
    return std::nullopt;
  LaunchPlan along;
  along.stores = launch.stores;
  along.parallel = launch.parallel;
  planAxes(along, ~launch.parallel);
  if (along.lane < 0 || !model.localAxis(along.lane) ||
      !areNeighbours(model, along.lane))
    return std::nullopt;
  Value windows = host.someExtent(along.lane);
  Value wide = host.smaller(host.number(lanes / 2), windows);
  along.when = host.isBelow(host.extent(launch.lane), wide);
  model.kernel.getBody().walk([&](qn::LoadOp load) {
    for (Value index : load.getIndices()) {
      if (!isApart(model, index, launch.lane))
        continue;
      std::optional<Value> step = host.stepAlong(index, launch.lane);
      if (!step)
        continue;
      Value isLong = host.isAtLeast(windows, std::int64_t(lanes) * 2);
      Value isFar = host.isAtLeast(*step, cost::gatheredStride);
      along.when = host.either(along.when, host.both(isLong, isFar));
    }
  });
  return along;
}

/// Whether a position is a sum of axes and of what does not move.
static bool isSum(const KernelModel &model, Value index) {
  return holdsBehind(index, [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!model.axesOf(value) || isa_and_nonnull<qn::IndexOp, qn::AxisOp>(op))
      return Found::Yes;
    return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)
               ? Found::IfBehind
               : Found::No;
  });
}

bool quern::gathers(const KernelModel &model, qn::LoadOp load, int lane) {
  if (!hasAxis(model.axesOf(load.getResult()), lane))
    return false;
  qn::OperandType type = load.getTensor().getType();
  auto strides = llvm::zip(type.getAxes(), type.getStrides());
  if (load.getIndices().empty())
    return llvm::any_of(strides, [&](auto pair) {
      auto [name, stride] = pair;
      return int(model.axisOf(name)) == lane && stride == StrideClass::Dynamic;
    });
  return !llvm::all_of(load.getIndices(), [&](Value index) {
    return !hasAxis(model.axesOf(index), lane) || isSum(model, index);
  });
}
