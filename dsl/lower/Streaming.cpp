// Stores past the caches: where a launch takes them.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace quern;

/// What the address of every vector of a result is made of, in bytes, all bits
/// together: zeros at the end say how it is aligned.
Value LaunchBuilder::addressBits(Frame &root, BlockArgument result) {
  auto type = cast<qn::OperandType>(result.getType());
  Value bytes = emitter.constant(root, storedBytes(type.getElementType()));
  Value pointer = emitter.pointerTo(root, result);
  Value bits = LLVM::PtrToIntOp::create(emitter.in(root), loc,
                                        builder.getI64Type(), pointer);
  for (auto [number, stride] : llvm::enumerate(type.getStrides())) {
    if (stride != StrideClass::Dynamic)
      continue;
    Value step = emitter.stride(root, result, number);
    OpBuilder &b = emitter.in(root);
    step = arith::MulIOp::create(b, loc, step, bytes);
    bits = arith::OrIOp::create(b, loc, bits, step);
  }
  return bits;
}

/// Whether the operands do not fit in the last cache, and the results are
/// aligned to what a store past the caches takes. Transposes, whose squares
/// touch many lines at once, gain from three quarters of it on.
Value LaunchBuilder::exceedsCaches(Frame &root) {
  std::int64_t bytes = 0;
  Value addresses = emitter.constant(root, 0);
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    auto type = dyn_cast<qn::OperandType>(argument.getType());
    if (!type || !model.axesOf(type) || KernelModel::isBehind(argument))
      continue;
    bytes += storedBytes(type.getElementType());
    auto writes = [](Operation *user) { return isa<qn::StoreOp>(user); };
    if (llvm::none_of(argument.getUsers(), writes))
      continue;
    Value bits = addressBits(root, argument);
    addresses = arith::OrIOp::create(emitter.in(root), loc, addresses, bits);
  }
  Value low = emitter.constant(root, target.vectorBytes - 1);
  std::int64_t cache =
      launch.turned >= 0 ? target.l3Bytes / 4 * 3 : target.l3Bytes;
  Value limit =
      emitter.constant(root, cache / std::max<std::int64_t>(1, bytes));
  Value zero = emitter.constant(root, 0), count;
  for (const AxisPlan &axis : launch.axes) {
    Value extent = emitter.extent(root, axis.axis);
    count = count ? arith::MulIOp::create(emitter.in(root), loc, count, extent)
                        .getResult()
                  : extent;
  }
  OpBuilder &b = emitter.in(root);
  Value odd = arith::AndIOp::create(b, loc, addresses, low);
  Value even =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, odd, zero);
  Value large =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, count, limit);
  return arith::AndIOp::create(b, loc, even, large);
}

/// Stores past the caches are ordered before whatever tells that a task is
/// done.
void LaunchBuilder::fence() {
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}
