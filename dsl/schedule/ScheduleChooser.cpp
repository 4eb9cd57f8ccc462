// The launches of a kernel, lanes, unrolling and the size of tasks.
#include "dsl/schedule/ScheduleChooser.h"
#include "dsl/cost/Parameters.h"
#include "dsl/schedule/Turned.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

ScheduleChooser::ScheduleChooser(KernelModel &model, const TargetInfo &target)
    : LoopChoice(model, target), marked(model),
      made{.staged{model}, .host = std::make_unique<Block>()},
      host(model, *made.host) {
  made.inner = innerLoops();
  made.maskedAbove = maskedAbove();
  splitReductions();
  stageValues();
  formLaunches();
  for (LaunchPlan &launch : launches)
    if (launch.reductions.empty() && !launch.compact)
      planAxes(launch, ~AxisSet());
  if (target.isGpu())
    addParts();
  else
    addContractions();
  chooseForm();
}

/// A form of a kernel runs under its own conditions, and those of forms that
/// would run instead of it do not hold.
void ScheduleChooser::chooseForm() {
  qn::RowwiseOp kernel = model.kernel;
  Value here;
  if (std::optional<ArrayAttr> when = kernel.getWhen())
    here = host.holds(*when);
  for (auto other : kernel->getParentRegion()->getOps<qn::RowwiseOp>())
    if (other.getInsteadOf() == kernel.getSymName())
      here = host.both(here, host.negated(host.holds(*other.getWhen())));
  for (LaunchPlan &launch : launches)
    launch.when = host.both(here, launch.when);
}

/// What staged operands hold is made in the order of the text, before anything
/// that may read it.
void ScheduleChooser::stageValues() {
  for (Operation &op : model.kernel.block()) {
    LaunchPlan launch;
    if (auto sort = dyn_cast<qn::SortOp>(op)) {
      ValueFacts facts = model.factsOf(sort);
      launch.kind = LaunchKind::Sort;
      launch.sort = sort;
      launch.parallel = facts.axes & ~facts.combined &
                        ~axisBit(model.axisOf(sort.getAxisAttr()));
      launches.push_back(std::move(launch));
      continue;
    }
    auto scatter = dyn_cast<qn::ScatterOp>(op);
    if (scatter && model.kernel.isStaged(scatter.getTensor())) {
      launch.kind = LaunchKind::Scatter;
      launch.scatter = scatter;
      launches.push_back(std::move(launch));
      continue;
    }
    auto store = dyn_cast<qn::StoreOp>(op);
    if (!store || !model.kernel.isStaged(store.getTensor()))
      continue;
    ValueFacts facts = model.factsOf(store);
    launch.stores.push_back(store);
    launch.parallel = facts.axes & ~facts.combined;
    launches.push_back(std::move(launch));
  }
}

/// Stores whose loops have the same parallel axes share a launch; one that
/// needs more of them joins a launch that splits fewer.
void ScheduleChooser::formLaunches() {
  std::size_t staging = launches.size();
  for (qn::StoreOp store : model.stores) {
    if (model.kernel.isStaged(store.getTensor()))
      continue;
    ValueFacts facts = model.factsOf(store);
    AxisSet parallel = facts.axes & ~facts.combined;
    auto fits = [&](const LaunchPlan &launch) {
      if (launch.kind != LaunchKind::Stores)
        return false;
      AxisSet common = launch.parallel & parallel;
      return common == launch.parallel || common == parallel;
    };
    auto *found =
        std::find_if(launches.begin() + staging, launches.end(), fits);
    if (found == launches.end()) {
      launches.emplace_back();
      found = std::prev(launches.end());
      found->parallel = parallel;
    }
    found->stores.push_back(store);
    found->parallel &= parallel;
  }
  for (qn::ScatterOp scatter : model.scatters) {
    if (model.kernel.isStaged(scatter.getTensor()))
      continue;
    launches.emplace_back();
    launches.back().kind = LaunchKind::Scatter;
    launches.back().scatter = scatter;
  }
  for (qn::CompactOp compact : model.compacts)
    addCompact(compact);
}

std::optional<Columns>
ScheduleChooser::columnsOf(const LaunchPlan &launch) const {
  if (launch.lane < 0 || !hasAxis(launch.parallel, launch.lane) ||
      scores[launch.lane] <= 0 || uneven)
    return std::nullopt;
  return findColumns(model, launch.stores, launch.parallel, launch.lane);
}

/// The axis a portable reduction of the launch has its lanes along, whatever
/// the operands look like; -1 where none can have lanes, nothing without such a
/// reduction.
std::optional<int>
ScheduleChooser::portableAxis(const LaunchPlan &launch) const {
  std::optional<int> found;
  for (qn::ReduceOp op : reductionsBehind(launch.stores, /*all=*/true)) {
    if (!op.getPortable() || op.getOrdered())
      continue;
    int last = model.axisOf(cast<StringAttr>(op.getAxes().getValue().back()));
    if (!hasAxis(uneven, last))
      return last;
    found = -1;
  }
  return found;
}

/// A parallel axis along which what the lanes read stays the same: the rows of
/// a register tile, -1 where no sum of products has one.
int ScheduleChooser::reusedAxis(const LaunchPlan &launch, int lane) const {
  int found = -1;
  for (qn::ReduceOp op : model.reductions) {
    auto product = op.getInputs()[0].getDefiningOp<arith::MulFOp>();
    AxisSet axes = model.axesOf(op->getResult(0));
    if (!product || !hasAxis(axes, lane) || op.getInits().size() != 1)
      continue;
    AxisSet left = model.axesOf(product.getLhs());
    AxisSet right = model.axesOf(product.getRhs());
    AxisSet moving = hasAxis(left, lane) ? left : right;
    AxisSet still = hasAxis(left, lane) ? right : left;
    for (unsigned axis = 0; axis < model.declaredAxes(); ++axis)
      if (hasAxis(launch.parallel & still & ~moving & ~uneven, axis) &&
          !hasAxis(still, lane))
        found = axis;
  }
  return found;
}

/// Rows by columns so that the accumulators fill most of the registers.
void ScheduleChooser::planTile(LaunchPlan &launch, unsigned rows,
                               unsigned lane) {
  unsigned height = target.vectorRegisters >= 32 ? 8 : 6;
  launch.axes.push_back(AxisPlan{
      .axis = rows, .copies = height, .tile = std::int64_t(4) * height});
  AxisPlan plan{.axis = lane, .lanes = lanes, .copies = cost::tileColumns};
  plan.tile = lanes * cost::tileColumns;
  launch.axes.push_back(plan);
  launch.taskElements = cost::taskCopies;
}

/// Tasks share a scatter along axes that lead to places of their own; lanes may
/// run along such an axis too, where all of them go to one place.
void ScheduleChooser::planScatter(LaunchPlan &launch) {
  AxisSet own = model.ownPlaces(launch.scatter);
  launch.parallel = own;
  qn::OperandType type = launch.scatter.getTensor().getType();
  for (auto [number, index] : llvm::enumerate(launch.scatter.getIndices())) {
    auto position = index.getDefiningOp<qn::IndexOp>();
    if (position && type.getStrides()[number] == StrideClass::One &&
        hasAxis(own & ~uneven, model.axisOf(position.getAxis())))
      launch.lane = model.axisOf(position.getAxis());
  }
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    if (hasAxis(own, axis) && static_cast<int>(axis) != launch.lane)
      launch.axes.push_back(AxisPlan{.axis = axis});
  if (launch.lane < 0)
    return;
  bool shared = llvm::none_of(launch.scatter.getIndices(), [&](Value index) {
    return !index.getDefiningOp<qn::IndexOp>() &&
           hasAxis(model.axesOf(index), launch.lane);
  });
  AxisPlan plan{.axis = unsigned(launch.lane), .tile = 64};
  // What a scan carries from row to row lanes carry side by side.
  if (shared || target.isGpu() || !model.scans.empty()) {
    plan = laneLoop(launch.lane, /*reduces=*/false);
    plan.copies = shared ? 4 : 1;
    plan.tile = std::int64_t(4) * plan.lanes;
  } else {
    launch.lane = -1; // each element goes to a place of its own
  }
  launch.axes.push_back(plan);
}

void ScheduleChooser::planAxes(LaunchPlan &launch, AxisSet mayBeLanes) {
  if (launch.scatter) {
    planScatter(launch);
    launch.taskElements = worthOfTask(launch);
    return;
  }
  if (launch.sort) {
    launch.taskElements = 2048;
    for (unsigned axis = 0; axis < model.axisCount(); ++axis)
      if (hasAxis(launch.parallel, axis))
        launch.axes.push_back(AxisPlan{.axis = axis});
    return;
  }
  AxisSet all;
  bool reduces = false;
  for (qn::StoreOp store : launch.stores) {
    ValueFacts facts = model.factsOf(store);
    all |= facts.axes | facts.combined;
    reduces |= bool(facts.combined);
  }
  std::optional<int> portable = portableAxis(launch);
  launch.lane = portable.value_or(bestAxis(all & mayBeLanes));
  bool tiled = launch.lane >= 0 && hasAxis(launch.parallel, launch.lane);
  int rows = tiled ? reusedAxis(launch, launch.lane) : -1;
  int windows = tiled && reduces && rows < 0 && !portable && !target.isGpu()
                    ? windowAxis(model, launch.stores,
                                 launch.parallel & ~uneven, launch.lane)
                    : -1;
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    if (hasAxis(launch.parallel, axis) &&
        static_cast<int>(axis) != launch.lane &&
        static_cast<int>(axis) != rows && static_cast<int>(axis) != windows)
      launch.axes.push_back(AxisPlan{.axis = axis});
  if (rows >= 0)
    return planTile(launch, rows, launch.lane);
  if (windows >= 0)
    return planWindow(launch, windows, launch.lane);
  launch.taskElements = worthOfTask(launch);
  if (!tiled)
    return planReduced(launch);
  if (!reduces && !target.isGpu() && planTwoAxes(launch))
    return;
  planShortRows(launch);
  AxisPlan plan = laneLoop(launch.lane, reduces);
  if (reduces)
    widenShared(launch, plan);
  plan.tile = reduces ? plan.lanes * plan.copies : 4096;
  launch.axes.push_back(plan);
  launch.streams = !reduces && onlyNeighbours(launch);
}

/// Whether every store of a launch writes all of it, neighbouring elements by
/// lanes. With rows a second copy of the loops is worth it where memory, and
/// not arithmetic, takes the time.
bool ScheduleChooser::onlyNeighbours(const LaunchPlan &launch) const {
  if (isLong(1) ||
      (launch.axes.size() > 1 && operations > cost::streamOperations))
    return false;
  return llvm::all_of(launch.stores, [&](qn::StoreOp store) {
    qn::OperandType type = store.getTensor().getType();
    if (!type.getElementType().isIntOrFloat() ||
        type.getStrides().size() != launch.axes.size())
      return false;
    return llvm::all_of(
        llvm::zip(type.getAxes(), type.getStrides()), [&](auto pair) {
          auto [name, stride] = pair;
          bool along = static_cast<int>(model.axisOf(name)) == launch.lane;
          return stride == (along ? StrideClass::One : StrideClass::Dynamic);
        });
  });
}
