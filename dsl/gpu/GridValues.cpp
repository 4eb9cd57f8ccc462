// Values of one thread: what the device gives, and plain operations.
#include "dsl/gpu/GridEmitter.h"
#include "dsl/lower/SmallFloat.h"

using namespace mlir;
using namespace quern;

Value GridEmitter::constant(std::int64_t value, Type type) {
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type ? type : b.getI64Type(), value));
}

Value GridEmitter::get(Value value) {
  Value made = values.lookup(value);
  assert(made && "a value is made before it is used");
  return made;
}

GridEmitter::Values GridEmitter::getAll(ValueRange of) {
  Values all;
  for (Value value : of)
    all.push_back(get(value));
  return all;
}

Value GridEmitter::special(Operation *op) {
  auto wide = [&](Value number) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), number);
  };
  if (auto number = dyn_cast<qn::ThreadOp>(op))
    return wide(threadNumber[static_cast<unsigned>(number.getDimension())]);
  if (auto number = dyn_cast<qn::BlockOp>(op))
    return wide(blockNumber[static_cast<unsigned>(number.getDimension())]);
  if (isa<qn::LaneOp>(op))
    return wide(lane);
  if (auto size = dyn_cast<qn::SizeOp>(op))
    return words[packet.extentWord(model.kernel.axisNumber(size.getAxis()))];
  return {};
}

/// An element of a constant table.
Value GridEmitter::lookup(qn::LookupOp op) {
  constexpr unsigned space = 1;
  std::string name = tableGlobal(b, model.kernel, op, space);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), space);
  Value base = LLVM::AddressOfOp::create(b, loc, pointer, name);
  Type element = op.getType();
  Value at = LLVM::GEPOp::create(b, loc, pointer, element, base,
                                 ArrayRef<LLVM::GEPArg>{get(op.getIndex())});
  return LLVM::LoadOp::create(b, loc, element, at,
                              element.getIntOrFloatBitWidth() / 8);
}

/// The operation itself.
void GridEmitter::plain(Operation *op) {
  if (!isa<arith::ConstantOp>(op) &&
      !OpTrait::hasElementwiseMappableTraits(op)) {
    if (valid)
      op->emitError() << "'" << op->getName()
                      << "' has no meaning in a `kernel`";
    valid = false;
  }
  SmallVector<Value> made =
      cloneLifted(b, target, op, getAll(op->getOperands()), /*lanes=*/1);
  for (auto [value, now] : llvm::zip(op->getResults(), made))
    values[value] = now;
}
