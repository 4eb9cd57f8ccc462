// Which values differ between the threads of a block: rises until nothing
// changes.
#include "dsl/threads/ThreadModel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

bool ThreadModel::raise(Value value, std::uint8_t to) {
  std::uint8_t &known = variances[value];
  std::uint8_t before = known;
  known |= to;
  return known != before;
}

static std::uint8_t unite(const ThreadModel &model, ValueRange values) {
  std::uint8_t all = nowhere;
  for (Value value : values)
    all |= model.variance(value);
  return all;
}

/// What an operation adds to the variance of its operands.
std::uint8_t ThreadModel::ownVariance(Operation *op) const {
  if (auto thread = dyn_cast<qn::ThreadOp>(op)) {
    if (isLinear)
      return acrossLanes | acrossRows;
    return thread.getDimension() == qn::Dimension::x ? acrossLanes | acrossRows
                                                     : acrossRows;
  }
  if (isa<qn::LaneOp, qn::AtomicOp, qn::ShuffleOp, qn::PrefixOp>(op))
    return acrossLanes | acrossRows;
  if (auto read = dyn_cast<qn::ReadOp>(op)) {
    auto memory = dyn_cast<MemRefType>(read.getPlace().getType());
    bool isOwn = memory && memory.getMemorySpaceAsInt() == 5;
    return isOwn ? acrossLanes | acrossRows : acrossRows;
  }
  if (isa<qn::BallotOp, qn::VoteOp>(op))
    return acrossRows;
  if (auto combine = dyn_cast<qn::CombineOp>(op))
    return combine.getScope() == qn::Scope::block  ? nowhere
           : combine.getScope() == qn::Scope::warp ? acrossRows
                                                   : acrossLanes | acrossRows;
  return nowhere;
}

bool ThreadModel::visitLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  std::uint8_t bounds = unite(
      *this, {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  // Where threads wait, all of them go round together.
  if (waits(op))
    bounds = nowhere;
  bool changed = raise(loop.getInductionVar(), bounds);
  std::uint8_t outside = waits(op) ? nowhere : std::uint8_t(acrossRows);
  for (auto [init, argument, next, result] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                 loop.getYieldedValues(), loop.getResults())) {
    std::uint8_t all =
        variance(init) | variance(next) | variance(argument) | bounds | outside;
    changed |= raise(argument, all);
    changed |= raise(result, all);
  }
  return changed;
}

bool ThreadModel::visitWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  scf::ConditionOp condition = loop.getConditionOp();
  std::uint8_t goes = variance(condition.getCondition());
  goes = waits(op) ? std::uint8_t(nowhere) : std::uint8_t(goes | acrossRows);
  bool changed = false;
  for (auto [init, argument, next] :
       llvm::zip(loop.getInits(), loop.getBeforeArguments(),
                 loop.getYieldOp().getOperands()))
    changed |= raise(argument, variance(init) | variance(next) | goes);
  for (auto [handed, argument, result] : llvm::zip(
           condition.getArgs(), loop.getAfterArguments(), loop.getResults())) {
    changed |= raise(argument, variance(handed) | goes);
    changed |= raise(result, variance(handed) | goes);
  }
  return changed;
}

bool ThreadModel::visit(Operation *op) {
  if (isa<scf::ForOp>(op))
    return visitLoop(op);
  if (isa<scf::WhileOp>(op))
    return visitWhile(op);
  bool changed = false;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    std::uint8_t around =
        waits(op) ? std::uint8_t(nowhere)
                  : std::uint8_t(acrossRows | variance(branch.getCondition()));
    for (auto [number, result] : llvm::enumerate(branch.getResults()))
      changed |= raise(
          result, around | variance(branch.thenYield().getOperand(number)) |
                      variance(branch.elseYield().getOperand(number)));
    return changed;
  }
  std::uint8_t all = ownVariance(op);
  auto combine = dyn_cast<qn::CombineOp>(op);
  if (!combine)
    all |= unite(*this, op->getOperands());
  // What is no pure operation is made by every vector of threads for itself.
  if (!isMemoryEffectFree(op) && !combine)
    all |= acrossRows;
  if (isa<qn::BallotOp, qn::VoteOp>(op))
    all &= ~acrossLanes;
  for (Value result : op->getResults())
    changed |= raise(result, all);
  return changed;
}

void ThreadModel::findVariances() {
  for (bool changed = true; changed;) {
    changed = false;
    kernel.getBody().walk([&](Operation *op) {
      if (!isa<qn::CombineOp, qn::PrefixOp>(op->getParentOp()))
        changed |= visit(op);
    });
  }
}
