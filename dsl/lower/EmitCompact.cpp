// Writes of what a condition leaves of a vector, packed together.
#include "dsl/lower/Emitter.h"
#include "dsl/lower/InMemory.h"

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

/// An error of the launch where there are more values than places.
void Emitter::reportBeyond(Frame &frame, qn::CompactOp op, Value count) {
  StringAttr places = op.getTensor().getType().getAxes()[0];
  Value size = extent(frame, model.axisOf(places)), one = constant(frame, 1);
  Location loc = op.getLoc();
  OpBuilder &b = in(frame);
  Value fits =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, count, size);
  Value last = arith::SubIOp::create(b, loc, count, one);
  report(frame,
         {op, sites.of(op, 0, places, ErrorSite::Kind::Index), last, size},
         fits);
}

/// How many lanes of a mask are set.
static Value countOf(OpBuilder &b, Location loc, Value mask, unsigned lanes) {
  Value bits = LLVM::BitcastOp::create(b, loc, b.getIntegerType(lanes), mask);
  Type word = b.getI64Type();
  if (lanes < 64)
    bits = arith::ExtUIOp::create(b, loc, word, bits);
  return LLVM::CtPopOp::create(b, loc, word, bits);
}

/// The lanes of `mask`, pushed together to the front.
static Value packed(OpBuilder &b, Value value, Value mask) {
  Type type = value.getType();
  Value any = LLVM::PoisonOp::create(b, value.getLoc(), type);
  return LLVM::CallIntrinsicOp::create(
             b, value.getLoc(), type,
             b.getStringAttr("llvm.experimental.vector.compress"),
             ValueRange{value, mask, any})
      .getResult(0);
}

/// Writes elements as they lie in memory to place `at`, vectors from there on.
void Emitter::writePacked(Frame &frame, qn::CompactOp op, ValueRange values,
                          Value at, Value mask) {
  auto operand = cast<BlockArgument>(op.getTensor());
  qn::OperandType type = op.getTensor().getType();
  unsigned lanes = lanesOf(values.front());
  unsigned axis = model.axisOf(type.getAxes()[0]);
  if (type.getStrides()[0] == StrideClass::Dynamic) {
    Value step = stride(frame, operand, 0);
    at = arith::MulIOp::create(in(frame), op.getLoc(), at, step);
  }
  Value pointer = advance(frame, type, pointerTo(frame, operand), at);
  if (lanes > 1 && strideAlong(type, axis) != StrideClass::One)
    pointer = lanePointers(frame, operand, pointer,
                           Binding{.axis = axis, .lanes = lanes});
  for (auto [number, value] : llvm::enumerate(values)) {
    Value to = number ? part(frame, type, pointer, number) : pointer;
    write(frame, to, value, getElementTypeOrSelf(value.getType()), mask);
  }
}

/// One value, where the condition holds and there is room.
Value Emitter::compactOne(Frame &frame, qn::CompactOp op, Value at, Value end) {
  Location loc = op.getLoc();
  Value when = emit(frame, op.getWhen(), 0);
  OpBuilder &b = in(frame);
  Value room =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, end);
  Value goes = arith::AndIOp::create(b, loc, when, room);
  auto branch = scf::IfOp::create(b, loc, goes, /*withElseRegion=*/false);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame side = Frame::inside(frame, branch.thenBlock());
  side.anchor = branch.thenBlock()->getTerminator();
  Values values;
  for (Value value : op.getValues()) {
    Value made = emit(side, value, 0);
    values.push_back(toMemory(side, made, value.getType()));
  }
  writePacked(side, op, values, at, Value());
  frame.anchor = anchor;
  OpBuilder &behind = in(frame);
  Value more = arith::ExtUIOp::create(behind, loc, behind.getI64Type(), when);
  return arith::AddIOp::create(behind, loc, at, more);
}

/// Writes the values of the lanes that ask from place `at` on, not beyond
/// `end`; gives where the next ones go.
Value Emitter::compact(Frame &frame, qn::CompactOp op, Value at, Value end) {
  const Binding *lane = laneOf(frame, frame.bound);
  if (!lane)
    return compactOne(frame, op, at, end);
  Location loc = op.getLoc();
  unsigned lanes = lane->lanes;
  Value mask = both(frame, wide(frame, op.getWhen(), 0, lanes), lane->mask);
  Values values;
  for (Value value : op.getValues()) {
    Value made = wide(frame, value, 0, lanes);
    made = toMemory(frame, made, value.getType());
    values.push_back(packed(in(frame), made, mask));
  }
  Value count = countOf(in(frame), loc, mask, lanes);
  Value all = constant(frame, lanes);
  OpBuilder &b = in(frame);
  Value left = arith::SubIOp::create(b, loc, end, at);
  // Lanes behind the last value are written over by the next ones.
  Value fits =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, left, all);
  Value few = arith::MinSIOp::create(b, loc, count, left);
  auto branch = scf::IfOp::create(b, loc, fits, /*withElseRegion=*/true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    Frame side = Frame::inside(frame, block);
    side.anchor = block->getTerminator();
    bool isWhole = block == branch.thenBlock();
    Value some =
        isWhole ? Value() : laneMask(side, constant(side, 0), few, lanes);
    writePacked(side, op, values, at, some);
  }
  frame.anchor = anchor;
  return arith::AddIOp::create(in(frame), loc, at, count);
}
