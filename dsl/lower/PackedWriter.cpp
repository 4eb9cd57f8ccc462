// Writes of what a condition leaves of a vector, packed together.
#include "dsl/lower/PackedWriter.h"

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

void PackedWriter::reportBeyond(Frame &frame, Value count) {
  StringAttr places = op.getTensor().getType().getAxes()[0];
  Value size = emitter.extent(frame, emitter.model.axisOf(places));
  Value one = emitter.constant(frame, 1);
  OpBuilder &b = emitter.in(frame);
  Value fits =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, count, size);
  Value last = arith::SubIOp::create(b, loc, count, one);
  std::int64_t site = emitter.sites.of(op, 0, places, ErrorSite::Kind::Index);
  emitter.report(frame, {op, site, last, size}, fits);
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
void PackedWriter::put(Frame &frame, ValueRange values, Value at, Value mask) {
  auto operand = cast<BlockArgument>(op.getTensor());
  qn::OperandType type = op.getTensor().getType();
  unsigned lanes = lanesOf(values.front());
  unsigned axis = emitter.model.axisOf(type.getAxes()[0]);
  if (type.getStrides()[0] == StrideClass::Dynamic) {
    Value step = emitter.stride(frame, operand, 0);
    at = arith::MulIOp::create(emitter.in(frame), loc, at, step);
  }
  Value pointer =
      emitter.advance(frame, type, emitter.pointerTo(frame, operand), at);
  if (lanes > 1 && emitter.strideAlong(type, axis) != StrideClass::One)
    pointer = emitter.lanePointers(frame, operand, pointer,
                                   Binding{.axis = axis, .lanes = lanes});
  for (auto [number, value] : llvm::enumerate(values)) {
    Value to = number ? emitter.part(frame, type, pointer, number) : pointer;
    emitter.write(frame, to, value, getElementTypeOrSelf(value.getType()),
                  mask);
  }
}

/// One value, where the condition holds and there is room.
Value PackedWriter::writeOne(Frame &frame, Value at, Value end) {
  Value when = emitter.emit(frame, op.getWhen(), 0);
  OpBuilder &b = emitter.in(frame);
  Value room =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, end);
  Value goes = arith::AndIOp::create(b, loc, when, room);
  auto branch = scf::IfOp::create(b, loc, goes, /*withElseRegion=*/false);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame side = Frame::inside(frame, branch.thenBlock());
  side.anchor = branch.thenBlock()->getTerminator();
  Emitter::Values values;
  for (Value value : op.getValues()) {
    Value made = emitter.emit(side, value, 0);
    values.push_back(emitter.toMemory(side, made, value.getType()));
  }
  put(side, values, at, Value());
  frame.anchor = anchor;
  OpBuilder &behind = emitter.in(frame);
  Value more = arith::ExtUIOp::create(behind, loc, behind.getI64Type(), when);
  return arith::AddIOp::create(behind, loc, at, more);
}

Value PackedWriter::write(Frame &frame, Value at, Value end) {
  const Binding *lane = emitter.laneOf(frame, frame.bound);
  if (!lane)
    return writeOne(frame, at, end);
  unsigned lanes = lane->lanes;
  Value asks = emitter.wide(frame, op.getWhen(), 0, lanes);
  Value mask = emitter.both(frame, asks, lane->mask);
  Emitter::Values values;
  for (Value value : op.getValues()) {
    Value made = emitter.wide(frame, value, 0, lanes);
    made = emitter.toMemory(frame, made, value.getType());
    values.push_back(packed(emitter.in(frame), made, mask));
  }
  Value count = countOf(emitter.in(frame), loc, mask, lanes);
  Value all = emitter.constant(frame, lanes);
  OpBuilder &b = emitter.in(frame);
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
    Value some;
    if (block == branch.elseBlock())
      some = emitter.laneMask(side, emitter.constant(side, 0), few, lanes);
    put(side, values, at, some);
  }
  frame.anchor = anchor;
  return arith::AddIOp::create(emitter.in(frame), loc, at, count);
}
