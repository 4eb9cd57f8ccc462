// Geometry, stages, and what outlives a stage.
#include "dsl/threads/ThreadModel.h"
#include "dsl/dialect/Refusal.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// What takes more operations to make again is kept.
static constexpr unsigned cheapToRemake = 16;

static std::optional<std::int64_t> constantOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

ThreadModel::ThreadModel(qn::KernelOp kernel, const TargetInfo &target)
    : kernel(kernel), ranges(kernel, target.warpSize()) {
  findGeometry(target);
  findWaiting();
  findVariances();
  findDoubtful();
  if (!target.isGpu())
    findSpread();
  findStages(kernel.block());
  findKept();
}

/// Threads along x fill vectors; where they do so badly vectors are smaller.
/// Operations on warps want vectors that are warps, as those of a GPU are.
void ThreadModel::findGeometry(const TargetInfo &target) {
  qn::LaunchOp launch = kernel.launch();
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    block[dimension] = constantOf(launch->getOperand(3 + dimension));
  bool usesWarps = target.isGpu();
  kernel.walk([&](Operation *op) {
    usesWarps |= isa<qn::LaneOp, qn::ShuffleOp, qn::BallotOp, qn::VoteOp>(op);
    if (auto barrier = dyn_cast<qn::BarrierOp>(op))
      usesWarps |= barrier.getScope() == qn::Scope::warp;
    if (auto combine = dyn_cast<qn::CombineOp>(op))
      usesWarps |= combine.getScope() != qn::Scope::block;
    if (auto prefix = dyn_cast<qn::PrefixOp>(op))
      usesWarps |= prefix.getScope() == qn::Scope::warp;
  });
  lanes = target.warpSize();
  std::int64_t x = block[0].value_or(maximumThreads);
  if (usesWarps) {
    bool isFlat = block[1] == 1 && block[2] == 1;
    isLinear = !isFlat && (!block[0] || x % lanes != 0);
    return;
  }
  while (lanes > 4 && x % lanes != 0 &&
         (x % (lanes / 2) == 0 || x <= lanes / 2))
    lanes /= 2;
}

void ThreadModel::findWaiting() {
  kernel.walk([&](Operation *op) {
    auto barrier = dyn_cast<qn::BarrierOp>(op);
    auto combine = dyn_cast<qn::CombineOp>(op);
    auto prefix = dyn_cast<qn::PrefixOp>(op);
    bool waits = (barrier && barrier.getScope() == qn::Scope::block) ||
                 (combine && combine.getScope() == qn::Scope::block) ||
                 (prefix && prefix.getScope() == qn::Scope::block);
    for (; waits && op && op != kernel; op = op->getParentOp())
      waiting.insert(op);
  });
}

/// Around a barrier the first thread decides; where others would have decided
/// differently they go along, until the launch is reported as an error.
void ThreadModel::findDoubtful() {
  auto differs = [&](Value value) { return this->differs(value); };
  for (Operation *op : waiting) {
    bool isDoubtful = false;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      isDoubtful = differs(branch.getCondition());
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      isDoubtful = differs(loop.getConditionOp().getCondition());
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      isDoubtful = differs(loop.getLowerBound()) ||
                   differs(loop.getUpperBound()) || differs(loop.getStep());
    if (isDoubtful)
      ranges.distrust(op);
  }
}

/// A loop that all threads go round equally often, and that carries nothing,
/// may as well lie around the threads: neighbours then follow each other in
/// memory. What it reads from outside must cost nothing to have.
bool ThreadModel::isWorthSpreading(Operation *op) const {
  auto loop = dyn_cast<scf::ForOp>(op);
  Operation *parent = op->getParentOp();
  if (!loop || op->getNumResults() || waits(op) ||
      (parent != kernel && !waits(parent)) || differs(loop.getLowerBound()) ||
      differs(loop.getUpperBound()) || differs(loop.getStep()))
    return false;
  bool readsTensors = false, isFree = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      readsTensors |= isa<qn::OperandType>(operand.getType());
      auto memory = dyn_cast<MemRefType>(operand.getType());
      isFree &= !memory || memory.getMemorySpaceAsInt() != 5;
      Operation *definer = operand.getDefiningOp();
      bool isOutside = !definer || !op->isAncestor(definer);
      if (isOutside && !memory && !isa<BlockArgument>(operand))
        isFree &= costOfRemaking(operand, cheapToRemake) <= cheapToRemake;
    }
  });
  return readsTensors && isFree;
}

void ThreadModel::findSpread() {
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isWorthSpreading(op))
      waiting.insert(op);
  });
}

/// Numbers the runs of operations between places where threads wait.
void ThreadModel::findStages(Block &inside) {
  ++stage;
  for (Operation &op : inside) {
    if (!waits(&op)) {
      stages[&op] = stage;
      continue;
    }
    stages[&op] = ++stage;
    if (isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op))
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          findStages(nested);
    ++stage;
  }
}

/// The operation around `op`, or itself, whose block is cut into stages.
Operation *ThreadModel::stagedAncestor(Operation *op) const {
  while (!stages.contains(op))
    op = op->getParentOp();
  return op;
}

bool ThreadModel::isAway(Operation *definer, Operation *user) const {
  Operation *outer = stagedAncestor(user);
  if (waits(outer) || outer->hasTrait<OpTrait::IsTerminator>())
    return true;
  return !definer || stages.lookup(outer) != stages.lookup(definer) ||
         waits(definer);
}

bool ThreadModel::crosses(Operation *op) const {
  Operation *definer = stagedAncestor(op);
  return llvm::any_of(op->getUsers(),
                      [&](Operation *user) { return isAway(definer, user); });
}

/// How many operations make a value from what is known everywhere.
unsigned ThreadModel::costOfRemaking(Value value, unsigned depth) const {
  if (!differs(value))
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !isMemoryEffectFree(op) || depth == 0)
    return cheapToRemake + 1;
  unsigned cost =
      isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op)
          ? 8
          : 1;
  for (Value operand : op->getOperands())
    if (cost <= cheapToRemake)
      cost += costOfRemaking(operand, depth - 1);
  return cost;
}

void ThreadModel::findKept() {
  auto consider = [&](Value value, Operation *definer) {
    if (!differs(value) || isa<MemRefType>(value.getType()))
      return;
    bool crossing = !definer || waits(definer) ||
                    llvm::any_of(value.getUsers(), [&](Operation *user) {
                      return isAway(definer, user);
                    });
    if (crossing && costOfRemaking(value, cheapToRemake) > cheapToRemake)
      kept.insert(value);
  };
  for (auto [op, number] : stages) {
    for (Value result : op->getResults())
      consider(result, op);
    if (waits(op) && isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op))
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          consider(argument, nullptr);
  }
}

bool ThreadModel::isShared(Operation *op) const {
  return isMemoryEffectFree(op) && !op->getNumRegions() &&
         op->getNumResults() &&
         !llvm::any_of(op->getResults(), [&](Value v) { return differs(v); });
}

std::optional<std::int64_t>
ThreadModel::evaluate(Value value, std::array<std::int64_t, 3> thread) const {
  if (auto number = constantOf(value))
    return value.getType().isInteger(1) ? *number & 1 : *number;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto number = dyn_cast<qn::ThreadOp>(op))
    return thread[static_cast<unsigned>(number.getDimension())];
  bool isKnown = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
                     arith::OrIOp, arith::XOrIOp, arith::CmpIOp, arith::RemUIOp,
                     arith::DivUIOp>(op);
  if (!isKnown)
    return std::nullopt;
  auto a = evaluate(op->getOperand(0), thread);
  auto b = evaluate(op->getOperand(1), thread);
  if (!a || !b)
    return std::nullopt;
  // As wide as the operands, which wrap there.
  unsigned bits = op->getOperand(0).getType().getIntOrFloatBitWidth();
  APInt x(bits, *a, true, true), y(bits, *b, true, true);
  if (isa<arith::RemUIOp, arith::DivUIOp>(op) && y.isZero())
    return std::nullopt;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), x, y);
  APInt result = isa<arith::AddIOp>(op)    ? x + y
                 : isa<arith::SubIOp>(op)  ? x - y
                 : isa<arith::MulIOp>(op)  ? x * y
                 : isa<arith::AndIOp>(op)  ? x & y
                 : isa<arith::OrIOp>(op)   ? x | y
                 : isa<arith::XOrIOp>(op)  ? x ^ y
                 : isa<arith::RemUIOp>(op) ? x.urem(y)
                                           : x.udiv(y);
  std::int64_t number = result.getSExtValue();
  return value.getType().isInteger(1) ? number & 1 : number;
}

bool ThreadModel::isProvablyDivided(Value value) const {
  auto [x, y, z] = block;
  if (!x || !y || !z)
    return false;
  std::optional<std::int64_t> first;
  for (std::int64_t k = 0; k < *z; ++k)
    for (std::int64_t j = 0; j < *y; ++j)
      for (std::int64_t i = 0; i < *x; ++i) {
        auto now = evaluate(value, {i, j, k});
        if (!now)
          return false;
        if (first && *first != *now)
          return true;
        first = now;
      }
  return false;
}

bool ThreadModel::checkDivided(Value value, Operation *at) const {
  if (!isProvablyDivided(value))
    return true;
  refuse(at, "QN2054")
      << "threads of a block part before a barrier: what decides must be the "
         "same in all of them";
  return false;
}
