// Lines of two to four elements, which are taken apart or put together in
// registers: one piece of code for each of these lengths.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Whether lines along `axis` have this length and follow each other along the
/// lanes in all `tensors`.
Value LaunchBuilder::areLines(Frame &frame, unsigned axis,
                              ArrayRef<Value> tensors, std::int64_t length) {
  Value size = emitter.constant(frame, length);
  auto isSize = [&](Value value) -> Value {
    return arith::CmpIOp::create(emitter.in(frame), loc,
                                 arith::CmpIPredicate::eq, value, size);
  };
  Value holds = isSize(emitter.extent(frame, axis));
  for (Value tensor : tensors) {
    auto operand = cast<BlockArgument>(tensor);
    auto type = cast<qn::OperandType>(operand.getType());
    for (auto [number, name] : llvm::enumerate(type.getAxes())) {
      if (static_cast<int>(model.axisOf(name)) != launch.lane)
        continue;
      // Where the stride is known it is one, or nothing moves.
      bool isAsked = type.getStrides()[number] == StrideClass::Dynamic;
      Value step = isAsked ? emitter.stride(frame, operand, number)
                           : emitter.constant(frame, 1);
      Value follows = isSize(step);
      holds = arith::AndIOp::create(emitter.in(frame), loc, holds, follows);
    }
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
