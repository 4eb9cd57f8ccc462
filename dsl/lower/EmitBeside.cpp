// Numbers of rows that are made side by side: one vector, an element for each.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// The rows side by side among which a value over `axes` differs, and by
/// nothing else; or null.
static const Binding *rowsBeside(const Emitter &emitter, const Frame &frame,
                                 AxisSet axes) {
  if (!emitter.launch || !emitter.launch->together)
    return nullptr;
  unsigned axis = emitter.launch->axes.back().axis;
  const Binding *rows = frame.find(axis);
  bool found = rows && rows->copies > 1 && hasAxis(axes, axis) &&
               !emitter.laneOf(frame, axes) &&
               emitter.copiesOf(frame, axes).size() == rows->copies;
  return found ? rows : nullptr;
}

/// Whether vectors of such numbers, or what compares them, are as good as one.
static bool isWide(Type type) {
  return type.isIntOrFloat() &&
         (type.isInteger(1) || type.getIntOrFloatBitWidth() >= 32);
}

/// The numbers of all rows, where those that they are made of are known like
/// that: the lanes of short rows are merged into such a vector.
Value Emitter::beside(Frame &from, Value value) {
  AxisSet axes = model.axesOf(value);
  Frame &frame = home(from, axes);
  const Binding *rows = rowsBeside(*this, frame, axes);
  Operation *op = value.getDefiningOp();
  if (!rows || !op || !target.hasMask)
    return Value();
  Frame::Key key{value.getAsOpaquePointer(), allBeside};
  if (Value found = frame.values.lookup(key))
    return found;
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 ||
      !isWide(value.getType()))
    return Value();
  unsigned axis = rows->axis, count = rows->copies;
  Values operands;
  for (Value operand : op->getOperands()) {
    AxisSet its = model.axesOf(operand);
    if (!hasAxis(its, axis)) {
      operands.push_back(wide(frame, operand, 0, count));
      continue;
    }
    emit(frame, operand, 0);
    operands.push_back(beside(frame, operand));
    if (!operands.back())
      return Value();
  }
  Value made = elementwise(frame, op, operands).front();
  frame.values[key] = made;
  return made;
}

/// Stores the numbers of all rows at once, where they become neighbours.
bool Emitter::storeBeside(Frame &frame, qn::StoreOp op, Value stored,
                          Copies copies) {
  auto operand = cast<BlockArgument>(op.getTensor());
  auto type = cast<qn::OperandType>(operand.getType());
  AxisSet axes = model.axesOf(type);
  const Binding *rows = rowsBeside(*this, frame, axes);
  if (!rows || op.getPart() || stored.getType() != type.getElementType() ||
      strideAlong(type, rows->axis) != StrideClass::One)
    return false;
  Value all = beside(frame, stored);
  if (all && !(copies >> (8 * rows->slot) & 0xff))
    write(frame, address(frame, operand, axes, copies), all, stored.getType(),
          Value());
  return bool(all);
}

/// The states of rows side by side, made row after row; they lie as those of
/// all rows do.
Emitter::Values
Emitter::rowAfterRow(const ReductionGroup &group,
                     llvm::function_ref<Values(ReductionGroup &)> make) const {
  SmallVector<Values> rows;
  for (Copies copy : group.outer) {
    ReductionGroup row = group;
    row.byRows = false;
    row.outer = {copy};
    rows.push_back(make(row));
  }
  Values states;
  unsigned at = 0;
  auto take = [&](unsigned count) {
    for (const Values &row : rows)
      llvm::append_range(states, ArrayRef<Value>(row).slice(at, count));
    at += count;
  };
  for (qn::ReduceOp op : group.members) {
    unsigned width = op.getInits().size();
    take(group.inner * width);
    if (separateTail(group))
      take(width);
  }
  return states;
}
