// Writes to computed places, combined with what is there.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

/// Lanes run only along axes that lead to places of their own.
void Emitter::scatter(Frame &frame, qn::ScatterOp op, Copies copies) {
  Access access{op, cast<BlockArgument>(op.getTensor()), op.getIndices(),
                std::nullopt};
  const Binding *lane = laneOf(frame, model.scatterAxes(op));
  unsigned lanes = lane ? lane->lanes : 1;
  Values indices;
  for (Value index : op.getIndices())
    indices.push_back(wide(frame, index, copies, lanes));
  Value when =
      op.getWhen() ? wide(frame, op.getWhen(), copies, lanes) : Value();
  Value good =
      op.getChecked() ? goodLanes(frame, access, indices, when, true) : when;
  Value value = wide(frame, op.getValue(), copies, lanes);
  if (lane)
    good = both(frame, good, lane->mask);
  Value pointer = lane ? neighbours(frame, access, *lane, copies) : Value();
  if (!pointer)
    pointer = elementPointer(frame, access, indices);
  if (!good || lanes > 1)
    return combine(frame, op, pointer, value, good, copies);
  auto branch = scf::IfOp::create(in(frame), op.getLoc(), good, false);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  Operation *anchor = std::exchange(frame.anchor, branch);
  combine(inside, op, pointer, value, Value(), copies);
  frame.anchor = anchor;
}

void Emitter::combine(Frame &frame, qn::ScatterOp op, Value pointer,
                      Value value, Value mask, Copies copies) {
  Type element = op.getValue().getType();
  if (!op.getMerge().empty()) {
    Value old = read(frame, pointer, element, lanesOf(value), mask, Value());
    value = inlineRegion(frame, op.getMerge(), {old, value}, copies).front();
  }
  write(frame, pointer, value, element, mask);
}
