// Which axis lanes suit, by the strides along it, and what a position costs.
#include "dsl/schedule/LoopChoice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

LoopChoice::LoopChoice(const KernelModel &model, const TargetInfo &target)
    : model(model), target(target), uneven(model.unevenAxes()) {
  countAccesses();
  findLanes();
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
void LoopChoice::findLanes() {
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
void LoopChoice::countAccesses() {
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
                 operations <= cost::turnedOperations;
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
void LoopChoice::countPlaces(qn::LoadOp load) {
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
int LoopChoice::bestAxis(AxisSet candidates) const {
  int best = -1;
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    if (hasAxis(candidates & ~uneven, axis) &&
        (best < 0 || scores[axis] >= scores[best]))
      best = axis;
  return best;
}

SmallVector<InnerLoop> LoopChoice::innerLoops() const {
  SmallVector<InnerLoop> loops;
  AxisSet left;
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    left |= axisBit(axis);
  auto add = [&](unsigned axis) {
    bool hasNeighbours = scores[axis] > 0;
    loops.push_back({.axis = axis,
                     .lanes = lanes,
                     .copies = laneLoop(axis, /*reduces=*/false).copies,
                     .reduceCopies = laneLoop(axis, /*reduces=*/true).copies,
                     .unsuited = !hasNeighbours || hasAxis(uneven, axis)});
    left &= ~axisBit(axis);
  };
  for (int best = bestAxis(left); best >= 0; best = bestAxis(left))
    add(best);
  for (unsigned axis : axisList(left))
    add(axis);
  return loops;
}

std::optional<std::uint64_t> LoopChoice::maskedAbove() const {
  if (!bodyLength)
    return std::nullopt;
  return cost::longBody / bodyLength;
}

/// Arithmetic of one position along `axis` that does not move along any of
/// `still`, what reductions over it make of it included.
unsigned LoopChoice::operationsAlong(unsigned axis, AxisSet still) const {
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
bool LoopChoice::mergeDivides(unsigned axis) const {
  return llvm::any_of(model.reductions, [&](qn::ReduceOp op) {
    return hasAxis(model.axesOf(op.getAxes()), axis) &&
           llvm::any_of(op.getMerge().front(), llvm::IsaPred<arith::DivFOp>);
  });
}

AxisPlan LoopChoice::laneLoop(unsigned axis, bool reduces) const {
  AxisPlan plan;
  plan.axis = axis;
  plan.lanes = lanes;
  unsigned budget = reduces ? cost::reduceBudget : cost::mapBudget;
  unsigned operations = this->operations;
  if (reduces && !target.isGpu())
    operations = operationsAlong(axis);
  plan.copies = std::clamp<unsigned>(
      llvm::bit_floor(budget / std::max(1u, operations)), 1, cost::unrollMost);
  if (reduces && operations <= cost::reduceLight)
    plan.copies = std::max<unsigned>(plan.copies, cost::unrollMost);
  if (reduces && !target.isGpu() && mergeDivides(axis))
    plan.copies = std::min<unsigned>(plan.copies, cost::dividingMerge);
  return plan;
}
