// Counts the registers that rows and the states of reductions take.
#include "dsl/gpu/Registers.h"

#include "dsl/dialect/Behind.h"
#include "dsl/schedule/StagedSlots.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// Registers in which a thread of a block keeps its elements of rows: fewer by
/// some for each word of a state that is no single number. Too few are not
/// worth it.
static constexpr unsigned keptRegisters = 64, besideWord = 8, largeState = 3;
/// So many of 64 leave enough for what is done to elements.
static constexpr unsigned lightRegisters = 32;

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

SmallVector<Value> quern::rowsOf(const KernelModel &model,
                                 const LaunchPlan &launch,
                                 const RowNeeds &needs) {
  SmallVector<Value> rows;
  for (Value operand : needs.operands) {
    AxisSet axes = model.axesOf(cast<qn::OperandType>(operand.getType()));
    if (hasAxis(axes, launch.lane) && (axes & launch.parallel))
      rows.push_back(operand);
  }
  return rows;
}

static Type elementOf(Value operand) {
  return cast<qn::OperandType>(operand.getType()).getElementType();
}

unsigned quern::rowWords(const KernelModel &model, const LaunchPlan &launch,
                         const RowNeeds &needs) {
  constexpr unsigned mostRows = 4;
  SmallVector<Value> rows = rowsOf(model, launch, needs);
  unsigned words = 1;
  for (Value operand : rows)
    if (Type number = elementOf(operand); number.isIntOrFloat())
      words = std::max<unsigned>(
          words, llvm::divideCeil(number.getIntOrFloatBitWidth(), 32));
  return rows.size() <= mostRows ? rows.size() * words : 0;
}

/// Bytes of an element of all rows; 0 where a store or an operand has axes that
/// would be walked several times, or numbers are not kept as they lie.
static unsigned rowBytes(const KernelModel &model, const LaunchPlan &launch,
                         const RowNeeds &needs) {
  AxisSet known = launch.parallel | axisBit(launch.lane);
  for (qn::StoreOp store : launch.stores)
    if (model.factsOf(store).axes & ~known)
      return 0;
  unsigned bytes = 0;
  for (Value operand : rowsOf(model, launch, needs)) {
    auto type = cast<qn::OperandType>(operand.getType());
    if ((model.axesOf(type) & ~known) || !type.getElementType().isIntOrFloat())
      return 0;
    bytes += storedBytes(type.getElementType());
  }
  return bytes;
}

RowRoom quern::roomFor(const KernelModel &model, const LaunchPlan &launch,
                       const RowNeeds &needs) {
  AxisSet lane = axisBit(launch.lane);
  bool isRead = false, isWritten = false;
  RowRoom room;
  for (qn::ReduceOp op : needs.reductions) {
    AxisSet axes = model.axesOf(op.getAxes());
    isRead |= axes == lane;
    if ((axes & ~lane) || op.getOrdered())
      return room;
  }
  for (qn::StoreOp store : launch.stores)
    isWritten |= hasAxis(model.factsOf(store).axes, launch.lane);
  unsigned words = rowWords(model, launch, needs);
  bool fits = isRead && isWritten && model.scans.empty() &&
              launch.lane < int(model.declaredAxes()) && words > 0;
  if (!fits)
    return room;
  unsigned left = registersToKeep(needs);
  room.kept = std::min(llvm::bit_floor(left / words), mostKept);
  if (room.kept < leastKept)
    return RowRoom();
  room.bytes = rowBytes(model, launch, needs);
  // Numbers of 16 bits lie in registers twice, as they are read and widened.
  constexpr unsigned word = 4;
  room.hasShared = llvm::any_of(needs.operands, [&](Value operand) {
    AxisSet axes = model.axesOf(cast<qn::OperandType>(operand.getType()));
    return (axes & lane) && !(axes & launch.parallel);
  });
  bool isLight = left == keptRegisters && room.kept * words <= lightRegisters &&
                 room.bytes >= word * words;
  if (isLight)
    room.light = room.kept - (room.hasShared ? besideWord : 0);
  return room;
}
