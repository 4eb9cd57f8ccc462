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
  Values values, pointers;
  for (Value value : op.getValues())
    values.push_back(wide(frame, value, copies, lanes));
  if (lane)
    good = both(frame, good, lane->mask);
  for (unsigned part = 0; part != values.size(); ++part) {
    if (values.size() > 1)
      access.part = part;
    Value pointer = lane ? neighbours(frame, access, *lane, copies) : Value();
    pointers.push_back(pointer ? pointer
                               : elementPointer(frame, access, indices));
  }
  if (!good || lanes > 1)
    return combine(frame, op, pointers, values, good, copies);
  auto branch = scf::IfOp::create(in(frame), op.getLoc(), good, false);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  Operation *anchor = std::exchange(frame.anchor, branch);
  combine(inside, op, pointers, values, Value(), copies);
  frame.anchor = anchor;
}

void Emitter::combine(Frame &frame, qn::ScatterOp op, ValueRange pointers,
                      Values values, Value mask, Copies copies) {
  TypeRange elements = op.getValues().getTypes();
  if (!op.getMerge().empty()) {
    Values states;
    for (auto [pointer, element] : llvm::zip_equal(pointers, elements))
      states.push_back(read(frame, pointer, element, lanesOf(values.front()),
                            mask, Value()));
    states.append(values);
    values = inlineRegion(frame, op.getMerge(), states, copies);
  }
  for (auto [pointer, value, element] :
       llvm::zip_equal(pointers, values, elements))
    write(frame, pointer, value, element, mask);
}
