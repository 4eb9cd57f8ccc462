// One walk over a kernel finds what each value depends on.
#include "dsl/schedule/KernelModel.h"

#include "dsl/dialect/Behind.h"
#include "dsl/dialect/ScheduleOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

static void join(ValueFacts &into, const ValueFacts &other) {
  into.axes |= other.axes;
  into.combined |= other.combined;
  into.rank = std::max(into.rank, other.rank);
}

KernelModel::KernelModel(qn::RowwiseOp kernel) : kernel(kernel) {
  for (auto axis : kernel.getAxes().getAsRange<StringAttr>())
    numbers[axis.getValue()] = declared++;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](qn::AxisOp op) {
    if (!numbers.try_emplace(op.getAxis(), axisCount()).second) {
      op.emitOpError() << "axis '" << op.getAxis() << "' is brought in twice";
      valid = false;
    }
    locals.push_back(op);
  });
  kernel.getBody().walk<WalkOrder::PreOrder>([&](scf::WhileOp loop) {
    auto holds = [](qn::ReduceOp) { return WalkResult::interrupt(); };
    if (loop.walk(holds).wasInterrupted()) {
      unsigned number = axisCount() + rounds.size();
      rounds[loop] = axisBit(number);
    }
  });
  if (!valid)
    return;
  visitAll();
}

void KernelModel::visitAll() {
  stores.clear();
  reductions.clear();
  scans.clear();
  scatters.clear();
  compacts.clear();
  sorts.clear();
  joined.clear();
  facts.clear();
  for (Operation &op : kernel.block())
    if (!isa<qn::ScheduleOp>(op))
      visit(&op);
}

void KernelModel::materialise(qn::ReduceOp op) {
  materialised.insert(op);
  visitAll();
}

unsigned KernelModel::axisOf(StringRef name) const {
  auto found = numbers.find(name);
  assert(found != numbers.end() && "an axis nobody brought in");
  return found->second;
}

StringAttr KernelModel::nameOf(unsigned axis) const {
  return axis < declared ? cast<StringAttr>(kernel.getAxes()[axis])
                         : localAxis(axis).getAxisAttr();
}

qn::AxisOp KernelModel::localAxis(unsigned axis) const {
  return axis < declared ? qn::AxisOp() : locals[axis - declared];
}

const ValueFacts &KernelModel::factsOf(Value value) const {
  static const ValueFacts none;
  auto found = facts.find(value);
  return found == facts.end() ? none : found->second;
}

AxisSet KernelModel::axesOf(ArrayAttr axes) const {
  AxisSet set;
  for (auto axis : axes.getAsRange<StringAttr>())
    set |= axisBit(axisOf(axis));
  return set;
}

AxisSet KernelModel::axesOf(qn::OperandType type) const {
  AxisSet set;
  for (auto [axis, stride] : llvm::zip(type.getAxes(), type.getStrides()))
    if (stride != StrideClass::Zero)
      set |= axisBit(axisOf(axis));
  return set;
}

AxisSet KernelModel::unevenAxes() const {
  AxisSet uneven;
  for (qn::AxisOp local : locals)
    uneven |= axesOf(local.getLower()) | axesOf(local.getUpper());
  return uneven;
}

ValueFacts KernelModel::factsOf(qn::StoreOp store) const {
  ValueFacts result = factsOf(store.getValue());
  for (StringAttr axis : store.getTensor().getType().getAxes())
    result.axes |= axisBit(axisOf(axis));
  return result;
}

ValueFacts KernelModel::factsOf(qn::SortOp sort) const {
  ValueFacts result = factsOf(sort.getKey());
  for (StringAttr axis : sort.getOrder().getType().getAxes().drop_back())
    result.axes |= axisBit(axisOf(axis));
  result.axes |= axisBit(axisOf(sort.getAxisAttr()));
  return result;
}

bool KernelModel::readsOnce(qn::LoadOp load, unsigned axis) const {
  bool hasRows = false;
  for (Value index : load.getIndices()) {
    AxisSet axes = axesOf(index), own = axisBit(axis);
    if ((axes & own) && axes != own)
      return false;
    hasRows |= axes && !(axes & own);
  }
  return hasRows;
}

qn::JoinedOp KernelModel::joinedAlong(unsigned axis) const {
  for (qn::JoinedOp op : joined)
    if (axisOf(op.getAxis()) == axis)
      return op;
  return qn::JoinedOp();
}

bool KernelModel::isBehind(BlockArgument operand) {
  return !operand.use_empty() &&
         llvm::all_of(operand.getUses(), [](OpOperand &use) {
           return isa<qn::JoinedOp>(use.getOwner()) &&
                  use.getOperandNumber() > 0;
         });
}

AxisSet KernelModel::scatterAxes(qn::ScatterOp scatter) const {
  AxisSet axes = scatter.getOver() ? axesOf(*scatter.getOver()) : AxisSet();
  for (Value operand : scatter->getOperands())
    axes |= axesOf(operand);
  return axes;
}

AxisSet KernelModel::ownPlaces(qn::ScatterOp scatter) const {
  AxisSet own, combined;
  for (Value operand : scatter->getOperands())
    combined |= factsOf(operand).combined;
  for (Value index : scatter.getIndices())
    if (auto position = index.getDefiningOp<qn::IndexOp>())
      own |= axisBit(axisOf(position.getAxis()));
  return own & ~combined;
}

/// What an operation depends on besides its operands.
ValueFacts KernelModel::own(Operation *op) const {
  ValueFacts result;
  if (auto index = dyn_cast<qn::IndexOp>(op))
    result.axes = axisBit(axisOf(index.getAxis()));
  if (auto axis = dyn_cast<qn::AxisOp>(op))
    result.axes = axisBit(axisOf(axis.getAxis()));
  if (auto load = dyn_cast<qn::LoadOp>(op))
    if (load.getIndices().empty())
      result.axes = axesOf(load.getTensor().getType());
  if (auto joined = dyn_cast<qn::JoinedOp>(op))
    result.axes =
        axesOf(joined.getOperandType()) | axisBit(axisOf(joined.getAxis()));
  return result;
}

/// Adds what the regions of an operation take from outside.
void KernelModel::addOutside(Operation *op, ValueFacts &result) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      visit(&inner);
      for (Value operand : inner.getOperands())
        join(result, factsOf(operand));
      for (Value value : inner.getResults())
        join(result, factsOf(value));
    }
}

/// Adds what is known of `from` to what is known of `into`, and says whether
/// that was anything. How many reductions lie behind a value of a loop is
/// counted from its beginning.
bool KernelModel::takeFacts(Value into, Value from, AxisSet own, bool begins) {
  ValueFacts known = factsOf(into), now = known, other = factsOf(from);
  if (!begins)
    other.rank = 0;
  join(now, other);
  now.axes |= own;
  facts[into] = now;
  return now.axes != known.axes || now.combined != known.combined ||
         now.rank != known.rank;
}

/// What a loop carries depends on what it begins with and on what it yields,
/// hence on itself: until nothing is added any more.
void KernelModel::visitRounds(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  AxisSet own = rounds.lookup(op);
  auto condition = loop.getConditionOp();
  Value goes = condition.getCondition();
  unsigned rank = 0;
  for (bool changed = true; changed;) {
    changed = false;
    std::size_t before = reductions.size();
    for (auto [argument, init] :
         llvm::zip(loop.getBeforeArguments(), loop.getInits()))
      changed |= takeFacts(argument, init, own, true);
    for (Operation &inner : loop.getBefore().getOps())
      visit(&inner);
    for (auto [argument, handed] :
         llvm::zip(loop.getAfterArguments(), condition.getArgs())) {
      changed |= takeFacts(argument, handed, own, true);
      changed |= takeFacts(argument, goes, own, false);
    }
    for (Operation &inner : loop.getAfter().getOps())
      visit(&inner);
    for (auto [argument, yielded] : llvm::zip(
             loop.getBeforeArguments(), loop.getYieldOp().getOperands())) {
      changed |= takeFacts(argument, yielded, own, false);
      changed |= takeFacts(argument, goes, own, false);
      rank = std::max(rank, factsOf(yielded).rank);
    }
    if (changed)
      reductions.truncate(before);
  }
  for (auto [result, argument] :
       llvm::zip(loop.getResults(), loop.getAfterArguments())) {
    ValueFacts handed = factsOf(argument);
    handed.axes &= ~own;
    handed.rank = std::max(handed.rank, rank);
    facts[result] = handed;
  }
}

void KernelModel::visit(Operation *op) {
  if (rounds.contains(op))
    return visitRounds(op);
  ValueFacts result = own(op);
  for (Value operand : op->getOperands())
    join(result, factsOf(operand));
  addOutside(op, result);
  if (auto reduce = dyn_cast<qn::ReduceOp>(op)) {
    AxisSet axes = axesOf(reduce.getAxes());
    for (unsigned axis = declared; axis < axisCount(); ++axis)
      if (hasAxis(axes, axis))
        join(result, factsOf(locals[axis - declared].getPosition()));
    result.axes &= ~axes;
    result.combined |= axes;
    ++result.rank;
    reductions.push_back(reduce);
    if (isMaterialised(op))
      result = ValueFacts();
  }
  if (auto scan = dyn_cast<qn::ScanOp>(op)) {
    result.axes |= axisBit(axisOf(scan.getAxis()));
    result.combined |= axisBit(axisOf(scan.getAxis()));
  }
  if (auto scan = dyn_cast<qn::ScanOp>(op))
    scans.push_back(scan);
  if (auto scatter = dyn_cast<qn::ScatterOp>(op))
    scatters.push_back(scatter);
  if (auto compact = dyn_cast<qn::CompactOp>(op))
    compacts.push_back(compact);
  if (auto sort = dyn_cast<qn::SortOp>(op))
    sorts.push_back(sort);
  if (auto parts = dyn_cast<qn::JoinedOp>(op))
    joined.push_back(parts);
  if (auto store = dyn_cast<qn::StoreOp>(op))
    stores.push_back(store);
  for (Value value : op->getResults())
    facts[value] = result;
}

/// Whether a value of a step is made of constants and of arguments that are
/// `even`.
static bool isEven(Value value, ArrayRef<bool> even) {
  return holdsBehind(value, [&](Value each) {
    if (auto argument = dyn_cast<BlockArgument>(each)) {
      unsigned number = argument.getArgNumber();
      return number < even.size() && even[number] ? Found::Yes : Found::No;
    }
    Operation *op = each.getDefiningOp();
    if (isa<arith::ConstantOp>(op))
      return Found::Yes;
    bool isPlain = op->getNumOperands() && !op->getNumRegions() &&
                   isa<arith::ArithDialect>(op->getDialect());
    return isPlain ? Found::IfBehind : Found::No;
  });
}

SmallVector<bool, 4> KernelModel::evenStates(qn::ReduceOp op) const {
  SmallVector<bool, 4> even;
  for (Value init : op.getInits())
    even.push_back(!axesOf(init));
  mlir::Block &step = op.getStep().front();
  bool changed = true;
  while (std::exchange(changed, false))
    for (auto [number, now] :
         llvm::enumerate(step.getTerminator()->getOperands()))
      if (even[number] && !isEven(now, even)) {
        even[number] = false;
        changed = true;
      }
  bool divides = llvm::any_of(step, [&](Operation &each) {
    auto quotient = dyn_cast<arith::DivFOp>(each);
    return quotient && isEven(quotient.getRhs(), even) &&
           !quotient.getRhs().getDefiningOp<arith::ConstantOp>();
  });
  if (!divides)
    even.assign(even.size(), false);
  return even;
}

bool KernelModel::addsRounding(qn::ReduceOp op) {
  bool keepsFloats = llvm::any_of(op.getInits(), [](Value init) {
    return isa<FloatType>(getElementTypeOrSelf(init.getType()));
  });
  return keepsFloats &&
         op.getStep()
             .walk([](Operation *each) {
               return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                          arith::DivFOp, math::FmaOp>(each)
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             })
             .wasInterrupted();
}
