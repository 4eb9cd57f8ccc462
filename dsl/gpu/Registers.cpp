// Counts the registers that rows and the states of reductions take.
#include "dsl/gpu/Registers.h"

#include "dsl/dialect/Behind.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// Registers in which a thread of a block keeps its elements of rows: fewer by
/// some for each word of a state that is no single number. Too few are not
/// worth it.
static constexpr unsigned keptRegisters = 64, besideWord = 8, largeState = 3;

unsigned quern::stateWords(qn::ReduceOp op) {
  unsigned words = 0;
  for (Type type : op->getResultTypes())
    words += llvm::divideCeil(type.getIntOrFloatBitWidth(), 32);
  return words;
}

RowNeeds quern::needsOf(const KernelModel &model, const LaunchPlan &launch) {
  RowNeeds needs;
  for (qn::StoreOp store : launch.stores)
    walkBehind(store->getOperands(), [&](Operation *op) {
      if (model.isMaterialised(op))
        return WalkResult::skip();
      if (auto reduce = dyn_cast<qn::ReduceOp>(op);
          reduce && !llvm::is_contained(needs.reductions, reduce))
        needs.reductions.push_back(reduce);
      if (auto load = dyn_cast<qn::LoadOp>(op))
        needs.operands.insert(load.getTensor());
      return WalkResult::advance();
    });
  return needs;
}

/// Registers that are left to keep rows in beside the states of reductions.
static unsigned registersToKeep(const RowNeeds &needs) {
  unsigned left = keptRegisters;
  for (qn::ReduceOp op : needs.reductions)
    if (unsigned words = stateWords(op); words >= largeState)
      left = std::min(left, keptRegisters -
                                std::min(keptRegisters, words * besideWord));
  return left;
}

unsigned quern::rowWords(const KernelModel &model, const LaunchPlan &launch,
                         const RowNeeds &needs) {
  constexpr unsigned mostRows = 4;
  unsigned rows = 0, words = 1;
  for (Value operand : needs.operands) {
    auto type = cast<qn::OperandType>(operand.getType());
    if (!hasAxis(model.axesOf(type), launch.lane) ||
        !(model.axesOf(type) & launch.parallel))
      continue;
    ++rows;
    if (Type number = type.getElementType(); number.isIntOrFloat())
      words = std::max<unsigned>(
          words, llvm::divideCeil(number.getIntOrFloatBitWidth(), 32));
  }
  return rows <= mostRows ? rows * words : 0;
}

unsigned quern::keptBy(const KernelModel &model, const LaunchPlan &launch,
                       const RowNeeds &needs) {
  AxisSet lane = axisBit(launch.lane);
  bool isRead = false, isWritten = false;
  for (qn::ReduceOp op : needs.reductions) {
    AxisSet axes = model.axesOf(op.getAxes());
    isRead |= axes == lane;
    if ((axes & ~lane) || op.getOrdered())
      return 0;
  }
  for (qn::StoreOp store : launch.stores)
    isWritten |= hasAxis(model.factsOf(store).axes, launch.lane);
  unsigned words = rowWords(model, launch, needs);
  bool fits = isRead && isWritten && model.scans.empty() &&
              launch.lane < int(model.declaredAxes()) && words > 0;
  unsigned kept = fits ? llvm::bit_floor(registersToKeep(needs) / words) : 0;
  return kept >= leastKept ? kept : 0;
}
