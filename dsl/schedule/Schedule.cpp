// The cost model: launches, lanes, unrolling and the size of tasks.
#include "dsl/schedule/Schedule.h"
#include "dsl/schedule/Turned.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

Schedule::Schedule(KernelModel &model, const TargetInfo &target)
    : staged(model), model(model), target(target) {
  countAccesses();
  findUneven();
  findLanes();
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
}

/// Bytes an element takes in a register: small floats are computed in f32,
/// where anything is.
static unsigned computeBytes(Type type, bool isComputed) {
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType();
  unsigned bytes = std::max(1u, type.getIntOrFloatBitWidth() / 8);
  return isComputed && isa<FloatType>(type) ? std::max(4u, bytes) : bytes;
}

/// Whether floats are more than moved.
static bool computesFloats(qn::RowwiseOp kernel) {
  auto makes = [](Operation *op) {
    bool isFloat =
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<FloatType>);
    bool isMoved = isa<qn::StoreOp, qn::LoadOp, arith::SelectOp>(op) ||
                   isOpTriviallyDead(op);
    return isFloat && !isMoved ? WalkResult::interrupt()
                               : WalkResult::advance();
  };
  return kernel.getBody().walk(makes).wasInterrupted();
}

/// The widest float decides, or the widest integer where there is no float:
/// indices beside floats take several registers. What is moved along an axis
/// that its places do not have is as wide as it is itself.
void Schedule::findLanes() {
  unsigned floats = 0, others = 1;
  bool computes = target.isGpu() || computesFloats(model.kernel);
  bool isMoved = !target.isGpu() && model.reductions.empty();
  int along = isMoved ? bestAxis(~AxisSet()) : -1;
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    auto operand = dyn_cast<qn::OperandType>(argument.getType());
    if (!operand)
      continue;
    Type element = operand.getElementType();
    bool isInteger = isa<IntegerType>(element);
    if (isInteger && along >= 0 && !hasAxis(model.axesOf(operand), along))
      continue;
    unsigned &bytes = isInteger ? others : floats;
    bytes = std::max(bytes, computeBytes(element, computes));
  }
  lanes = std::max(2u, target.vectorBytes / (floats ? floats : others));
}

/// Neighbouring elements speak for an axis, strided ones against it, and
/// operands of more axes more loudly: they are read more often.
void Schedule::countAccesses() {
  scores.assign(model.axisCount(), 0);
  int loads = 0;
  model.kernel.getBody().walk([&](Operation *op) {
    bool isArithmetic = isa<arith::ArithDialect>(op->getDialect()) &&
                        !isa<arith::ConstantOp>(op);
    operations += isArithmetic;
    bodyLength += isArithmetic || isa<math::MathDialect>(op->getDialect());
    loads += isa<qn::LoadOp>(op);
  });
  // Between loads and a store the store decides: squares of loads can be turned
  // in registers, all of them if the kernel has squares.
  bool decides = model.reductions.empty() && !target.isGpu() &&
                 operations <= longestTurned;
  int times = decides ? std::clamp(loads, 1, 64) : 1;
  auto count = [&](qn::OperandType type, int times = 1, int more = 0) {
    int axes = std::min(8u, model.axesOf(type).count());
    int weight = (1 << (2 * axes)) * times + more;
    for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
      if (stride != StrideClass::Zero)
        scores[model.axisOf(name)] +=
            stride == StrideClass::One ? weight : -weight;
  };
  model.kernel.getBody().walk([&](Operation *op) {
    if (auto store = dyn_cast<qn::StoreOp>(op))
      count(store.getTensor().getType(), times, 1);
    if (auto load = dyn_cast<qn::LoadOp>(op)) {
      if (load.getIndices().empty())
        count(load.getTensor().getType());
      else if (!target.isGpu())
        countPlaces(load);
    }
    if (auto joined = dyn_cast<qn::JoinedOp>(op))
      count(joined.getOperandType());
  });
}

/// A sum reads more elements at computed places than it gives, and has no
/// squares to turn: what it reads decides, even against the store.
void Schedule::countPlaces(qn::LoadOp load) {
  AxisSet axes = model.axesOf(load.getResult());
  int along = neighboursOf(model, load);
  bool isSummed = llvm::any_of(model.reductions, [&](qn::ReduceOp op) {
    return bool(model.axesOf(op.getAxes()) & axes);
  });
  if (along < 0 || !isSummed)
    return;
  qn::OperandType type = load.getTensor().getType();
  int weight = 2 << (2 * std::min(8u, model.axesOf(type).count()));
  scores[along] += weight;
  for (unsigned axis = 0; axis < model.declaredAxes(); ++axis)
    if (hasAxis(axes, axis) && static_cast<int>(axis) != along)
      scores[axis] -= weight;
}

/// Lanes whose loops had different lengths would need masks all along.
void Schedule::findUneven() {
  for (unsigned axis = model.declaredAxes(); axis < model.axisCount(); ++axis) {
    qn::AxisOp local = model.localAxis(axis);
    uneven |= model.axesOf(local.getLower()) | model.axesOf(local.getUpper());
  }
}

int Schedule::bestAxis(AxisSet candidates) const {
  int best = -1;
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    if (hasAxis(candidates & ~uneven, axis) &&
        (best < 0 || scores[axis] >= scores[best]))
      best = axis;
  return best;
}

int Schedule::laneAxis(AxisSet candidates, const LaunchPlan &launch) const {
  int best = bestAxis(candidates);
  return best >= 0 && (scores[best] > 0 || best == launch.lane) ? best : -1;
}

/// Arithmetic of one position along `axis` that does not move along any of
/// `still`, what reductions over it make of it included.
unsigned Schedule::operationsAlong(unsigned axis, AxisSet still) const {
  unsigned count = 0;
  auto isCounted = [](Operation &op) {
    return isa<arith::ArithDialect>(op.getDialect()) &&
           !isa<arith::ConstantOp>(op);
  };
  for (Operation &op : model.kernel.block())
    if (auto reduction = dyn_cast<qn::ReduceOp>(op)) {
      if (hasAxis(model.axesOf(reduction.getAxes()), axis))
        count += llvm::count_if(reduction.getStep().front(), isCounted);
    } else if (op.getNumResults()) {
      AxisSet axes = model.axesOf(op.getResult(0));
      count += hasAxis(axes, axis) && !(axes & still) && isCounted(op);
    }
  return count;
}

/// Whether merging accumulators over `axis` divides: a short row pays for it.
bool Schedule::mergeDivides(unsigned axis) const {
  return llvm::any_of(model.reductions, [&](qn::ReduceOp op) {
    return hasAxis(model.axesOf(op.getAxes()), axis) &&
           llvm::any_of(op.getMerge().front(), llvm::IsaPred<arith::DivFOp>);
  });
}

AxisPlan Schedule::laneLoop(unsigned axis, bool reduces,
                            const LaunchPlan *launch) const {
  AxisPlan plan;
  plan.axis = axis;
  plan.lanes = lanes;
  unsigned budget = reduces ? 32 : 16;
  unsigned operations = this->operations;
  if (reduces && !target.isGpu())
    operations = operationsAlong(axis);
  plan.copies = std::clamp<unsigned>(
      llvm::bit_floor(budget / std::max(1u, operations)), 1, 4);
  if (reduces && operations <= 24)
    plan.copies = std::max(plan.copies, 4u);
  if (reduces && !target.isGpu() && mergeDivides(axis))
    plan.copies = std::min(plan.copies, 2u);
  if (launch && launch->dots)
    plan.copies = 1;
  return plan;
}

/// What staged operands hold is made in the order of the text, before anything
/// that may read it.
void Schedule::stageValues() {
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
void Schedule::formLaunches() {
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

std::optional<Columns> Schedule::columnsOf(const LaunchPlan &launch) const {
  if (launch.lane < 0 || !hasAxis(launch.parallel, launch.lane) ||
      scores[launch.lane] <= 0 || uneven)
    return std::nullopt;
  return findColumns(model, launch.stores, launch.parallel, launch.lane);
}

/// The axis a portable reduction of the launch has its lanes along, whatever
/// the operands look like; -1 where none can have lanes, nothing without such a
/// reduction.
std::optional<int> Schedule::portableAxis(const LaunchPlan &launch) const {
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
int Schedule::reusedAxis(const LaunchPlan &launch, int lane) const {
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
void Schedule::planTile(LaunchPlan &launch, unsigned rows, unsigned lane) {
  constexpr unsigned columns = 2;
  unsigned height = target.vectorRegisters >= 32 ? 8 : 6;
  launch.axes.push_back(AxisPlan{
      .axis = rows, .copies = height, .tile = std::int64_t(4) * height});
  AxisPlan plan{.axis = lane, .lanes = lanes, .copies = columns};
  plan.tile = std::int64_t(lanes) * columns;
  launch.axes.push_back(plan);
  launch.taskElements = 65536;
}

/// Tasks share a scatter along axes that lead to places of their own; lanes may
/// run along such an axis too, where all of them go to one place.
void Schedule::planScatter(LaunchPlan &launch) {
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

void Schedule::planAxes(LaunchPlan &launch, AxisSet mayBeLanes) {
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
bool Schedule::onlyNeighbours(const LaunchPlan &launch) const {
  constexpr unsigned longest = 64;
  if (isLong(1) || (launch.axes.size() > 1 && operations > longest))
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
