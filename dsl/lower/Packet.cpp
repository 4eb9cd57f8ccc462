// Lays out a kernel's packet: pointers, extents, strides, scalars.
#include "dsl/lower/Packet.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace quern;

unsigned Packet::add(PacketWord word) {
  words.push_back(word);
  return words.size() - 1;
}

Packet::Packet(qn::RowwiseOp kernel) { layOut(kernel); }
Packet::Packet(qn::KernelOp kernel) { layOut(kernel); }

template <typename Op> void Packet::layOut(Op kernel) {
  using Kind = PacketWord::Kind;
  add({.kind = Kind::ErrorRecord});
  add({.kind = Kind::Workspace});
  auto parameters =
      kernel.block().getArguments().take_front(kernel.callerArguments());
  arguments.resize(parameters.size());
  auto number = [&](BlockArgument argument) {
    return static_cast<std::uint16_t>(kernel.numberOf(argument.getArgNumber()));
  };
  for (BlockArgument argument : parameters)
    if (isa<qn::OperandType>(argument.getType()))
      arguments[argument.getArgNumber()] =
          add({.kind = Kind::Pointer, .operand = number(argument)});
  extents = words.size();
  for (std::uint16_t axis = 0; axis < kernel.getAxes().size(); ++axis)
    add({.kind = Kind::Extent, .axis = axis});
  for (BlockArgument argument : parameters) {
    auto operand = dyn_cast<qn::OperandType>(argument.getType());
    if (!operand)
      continue;
    for (auto [axis, stride] : llvm::enumerate(operand.getStrides()))
      if (stride == StrideClass::Dynamic)
        strides[{argument.getArgNumber(), axis}] =
            add({.kind = Kind::Stride,
                 .operand = number(argument),
                 .axis = static_cast<std::uint16_t>(axis)});
  }
  for (BlockArgument argument : parameters)
    if (!isa<qn::OperandType>(argument.getType()))
      arguments[argument.getArgNumber()] =
          add({.kind = Kind::Scalar, .operand = number(argument)});
}

void quern::writePlan(OpBuilder &b, Location loc, Value plan,
                      ArrayRef<Value> words) {
  for (auto [number, value] : llvm::enumerate(words)) {
    Value at = LLVM::GEPOp::create(
        b, loc, plan.getType(), b.getI64Type(), plan,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    LLVM::StoreOp::create(b, loc, value, at, 8);
  }
}
