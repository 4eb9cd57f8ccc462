// Lines of two to four elements, which are taken apart or put together in
// registers: one piece of code for each of these lengths.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Whether an operand moves by `step` elements along `axis`; nothing where it
/// never does, whatever its layout.
Value LaunchBuilder::stepsBy(Frame &frame, BlockArgument operand, unsigned axis,
                             Value step, std::int64_t known) {
  auto type = cast<qn::OperandType>(operand.getType());
  Value holds;
  for (auto [number, name] : llvm::enumerate(type.getAxes())) {
    if (model.axisOf(name) != axis)
      continue;
    StrideClass stride = type.getStrides()[number];
    if (holds || stride == StrideClass::Zero ||
        (stride == StrideClass::One && known != 1))
      return Value();
    Value own = stride == StrideClass::One
                    ? emitter.constant(frame, 1)
                    : emitter.stride(frame, operand, number);
    holds = arith::CmpIOp::create(emitter.in(frame), loc,
                                  arith::CmpIPredicate::eq, own, step);
  }
  return holds;
}

/// Whether lines along `axis` have this length and, in all `tensors`, lie in
/// one piece that is as long as the lanes: neighbours along the axis are
/// neighbours in memory, and so are the lines of neighbouring lanes. Null where
/// that never holds.
Value LaunchBuilder::areLines(Frame &frame, unsigned axis,
                              ArrayRef<Value> tensors, std::int64_t length) {
  Value size = emitter.constant(frame, length);
  Value one = emitter.constant(frame, 1);
  Value extent = emitter.extent(frame, axis);
  Value holds = arith::CmpIOp::create(emitter.in(frame), loc,
                                      arith::CmpIPredicate::eq, extent, size);
  for (Value tensor : tensors) {
    auto operand = cast<BlockArgument>(tensor);
    Value along = stepsBy(frame, operand, axis, one, 1);
    Value across = stepsBy(frame, operand, launch.lane, size, length);
    if (!along || !across)
      return Value();
    for (Value step : {along, across})
      holds = arith::AndIOp::create(emitter.in(frame), loc, holds, step);
  }
  return holds;
}

void LaunchBuilder::byLength(Frame &frame, unsigned axis,
                             ArrayRef<Value> tensors, LinesOfLength make,
                             OtherLines others, std::int64_t length) {
  constexpr std::int64_t longest = 4;
  if (length > longest)
    return others(frame);
  Value holds = areLines(frame, axis, tensors, length);
  if (!holds)
    return others(frame);
  auto branch = scf::IfOp::create(emitter.in(frame), loc, holds, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame lines = Frame::inside(frame, branch.thenBlock());
  lines.anchor = branch.thenBlock()->getTerminator();
  make(lines, length);
  Frame other = Frame::inside(frame, branch.elseBlock());
  other.anchor = branch.elseBlock()->getTerminator();
  byLength(other, axis, tensors, make, others, length + 1);
  frame.anchor = anchor;
}
