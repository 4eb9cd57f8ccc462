// Writes to computed places, combined with what is there.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

/// What one lane has of each value.
static Emitter::Values laneOfEach(OpBuilder &b, ValueRange values,
                                  unsigned lane) {
  Emitter::Values result;
  for (Value value : values) {
    Value number =
        arith::ConstantOp::create(b, value.getLoc(), b.getI64IntegerAttr(lane));
    result.push_back(
        LLVM::ExtractElementOp::create(b, value.getLoc(), value, number));
  }
  return result;
}

/// Lanes of places apart, one after the other: that costs less than the
/// machines' instructions that read and write them together, which are for
/// vectors of which not every lane is good.
static void combineEach(Emitter &emitter, Frame &frame, qn::ScatterOp op,
                        ValueRange pointers, const Emitter::Values &values,
                        Value good, Copies copies) {
  auto oneByOne = [&](Frame &at) {
    for (unsigned lane = 0, end = lanesOf(pointers.front()); lane < end; ++lane)
      emitter.combine(at, op, laneOfEach(emitter.in(at), pointers, lane),
                      laneOfEach(emitter.in(at), values, lane), Value(),
                      copies);
  };
  if (!good)
    return oneByOne(frame);
  Location loc = op.getLoc();
  OpBuilder &b = emitter.in(frame);
  Value all =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, good);
  auto branch = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  yes.anchor = branch.thenBlock()->getTerminator();
  oneByOne(yes);
  Frame no = Frame::inside(frame, branch.elseBlock());
  no.anchor = branch.elseBlock()->getTerminator();
  emitter.combine(no, op, pointers, values, good, copies);
  frame.anchor = anchor;
}

/// Where the positions are in range, or nothing asks for them.
Value Emitter::goodPlaces(Frame &frame, qn::ScatterOp op, Copies copies) {
  Access access{op, cast<BlockArgument>(op.getTensor()), op.getIndices(),
                std::nullopt};
  Values indices = emitAll(frame, op.getIndices(), copies);
  Value good = goodLanes(frame, access, indices, Value(), /*report=*/false);
  if (!op.getWhen() || !good)
    return good;
  Value asked = emit(frame, op.getWhen(), copies);
  OpBuilder &b = in(frame);
  Value ones =
      arith::ConstantOp::create(b, op.getLoc(), b.getOneAttr(asked.getType()));
  Value unasked = arith::XOrIOp::create(b, op.getLoc(), asked, ones);
  unsigned lanes = std::max(lanesOf(good), lanesOf(unasked));
  return arith::OrIOp::create(b, op.getLoc(), widen(frame, good, lanes),
                              widen(frame, unasked, lanes));
}

/// Lanes run only along axes that lead to places of their own. What all lanes
/// share is looked at once.
void Emitter::scatter(Frame &frame, qn::ScatterOp op, Copies copies) {
  Access access{op, cast<BlockArgument>(op.getTensor()), op.getIndices(),
                std::nullopt};
  const Binding *lane = laneOf(frame, model.scatterAxes(op));
  Values indices;
  for (Value index : op.getIndices())
    indices.push_back(emit(frame, index, copies));
  Value when = op.getWhen() ? emit(frame, op.getWhen(), copies) : Value();
  Value good =
      op.getChecked()
          ? both(frame, when, goodLanes(frame, access, indices, when, true))
          : when;
  Values values, pointers;
  for (Value value : op.getValues())
    values.push_back(wide(frame, value, copies, lane ? lane->lanes : 1));
  for (unsigned part = 0; part != values.size(); ++part) {
    if (values.size() > 1)
      access.part = part;
    Value pointer = lane ? neighbours(frame, access, *lane, copies) : Value();
    pointers.push_back(pointer ? pointer
                               : elementPointer(frame, access, indices));
  }
  Value mask = lane ? lane->mask : Value();
  auto all = [&](Frame &at, Value mask) {
    if (lanesOf(pointers.front()) > 1 && !target.isGpu())
      return combineEach(*this, at, op, pointers, values, mask, copies);
    combine(at, op, pointers, values, mask, copies);
  };
  if (!good)
    return all(frame, mask);
  if (lanesOf(good) > 1)
    return all(frame, both(frame, good, mask));
  auto branch = scf::IfOp::create(in(frame), op.getLoc(), good, false);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  Operation *anchor = std::exchange(frame.anchor, branch);
  all(inside, mask);
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
