// Staged operands: rows in the workspace, one operand behind the other.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace quern;

Value Emitter::elementsOf(Frame &frame, qn::OperandType type) {
  Frame &root = home(frame, {});
  Value count = constant(root, 1);
  for (StringAttr axis : type.getAxes()) {
    Value size = extent(root, model.axisOf(axis));
    count = arith::MulIOp::create(in(root), size.getLoc(), count, size);
  }
  return count;
}

/// Every slot begins at a whole word.
Value Emitter::stagedBytes(Frame &frame, std::optional<unsigned> before) {
  Frame &root = home(frame, {});
  Value bytes = constant(root, 0);
  ArrayRef<qn::OperandType> slots = schedule.staged.slots();
  Location loc = model.kernel.getLoc();
  for (qn::OperandType type : slots.take_front(before.value_or(slots.size()))) {
    Value elements = elementsOf(root, type);
    Value each = constant(root, storedBytes(type.getElementType()));
    Value more = constant(root, 7), whole = constant(root, -8);
    OpBuilder &b = in(root);
    Value own = arith::MulIOp::create(b, loc, elements, each);
    own = arith::AddIOp::create(b, loc, own, more);
    own = arith::AndIOp::create(b, loc, own, whole);
    bytes = arith::AddIOp::create(b, loc, bytes, own);
  }
  return bytes;
}

Value Emitter::inWorkspace(Frame &frame, Value bytes) {
  Type type = LLVM::LLVMPointerType::get(builder.getContext());
  Value base = word(frame, Packet::workspaceWord, type);
  OpBuilder &b = in(frame);
  return LLVM::GEPOp::create(b, base.getLoc(), type, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value Emitter::room(Frame &frame, Type element, std::int64_t count) {
  Frame &root = home(frame, {});
  return memory.reserve(in(root), root, element, count);
}

Value Emitter::pointerTo(Frame &frame, BlockArgument operand) {
  unsigned number = operand.getArgNumber();
  if (!model.kernel.isStaged(operand))
    return word(frame, packet.argumentWord(number),
                LLVM::LLVMPointerType::get(builder.getContext()));
  Frame &root = home(frame, {});
  Frame::Key key{operand.getAsOpaquePointer(), Copies(0)};
  if (Value found = root.values.lookup(key))
    return found;
  Value bytes = stagedBytes(root, schedule.staged.slotOf(operand));
  return root.values[key] = inWorkspace(root, bytes);
}

/// Rows lie one behind the other, the last axis innermost.
Value Emitter::stagedStride(Frame &frame, BlockArgument operand,
                            unsigned axis) {
  Frame &root = home(frame, {});
  Frame::Key key{operand.getAsOpaquePointer(), axis + 1};
  if (Value found = root.values.lookup(key))
    return found;
  auto type = cast<qn::OperandType>(operand.getType());
  Value step = constant(root, 1);
  for (StringAttr inner : type.getAxes().drop_front(axis + 1)) {
    Value size = extent(root, model.axisOf(inner));
    step = arith::MulIOp::create(in(root), operand.getLoc(), step, size);
  }
  return root.values[key] = step;
}
