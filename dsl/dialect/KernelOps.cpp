// Construction and verification of kernels.
#include "dsl/dialect/Dialect.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

void RowwiseOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      ArrayRef<StringAttr> axes, TypeRange argumentTypes) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  SmallVector<Attribute> names(axes.begin(), axes.end());
  state.addAttribute(getAxesAttrName(state.name), builder.getArrayAttr(names));
  Block &block = state.addRegion()->emplaceBlock();
  for (Type type : argumentTypes)
    block.addArgument(type, state.location);
}

int RowwiseOp::axisNumber(StringRef name) {
  for (auto [number, axis] :
       llvm::enumerate(getAxes().getAsRange<StringAttr>()))
    if (axis.getValue() == name)
      return number;
  return -1;
}

unsigned RowwiseOp::numberOf(unsigned index) {
  if (auto numbers = getNumbers())
    return (*numbers)[index];
  bool tensor = isa<OperandType>(block().getArgument(index).getType());
  return llvm::count_if(block().getArguments().take_front(index),
                        [&](BlockArgument argument) {
                          return isa<OperandType>(argument.getType()) == tensor;
                        });
}

/// An indexed operand may have axes of its own; they still need extents.
LogicalResult RowwiseOp::verifyRegions() {
  auto axes = getAxes().getAsRange<StringAttr>();
  for (auto [number, axis] : llvm::enumerate(axes))
    if (axisNumber(axis) != static_cast<int>(number))
      return emitOpError() << "axis " << axis << " occurs twice";
  std::uint64_t staged = getStaged().value_or(0);
  if (staged > block().getNumArguments())
    return emitOpError() << staged << " staged arguments of "
                         << block().getNumArguments();
  if (getNumbers() && getNumbers()->size() != callerArguments())
    return emitOpError() << getNumbers()->size() << " numbers for "
                         << callerArguments() << " arguments";
  for (BlockArgument argument : block().getArguments()) {
    auto tensor = dyn_cast<OperandType>(argument.getType());
    if (!tensor && !argument.getType().isIntOrFloat())
      return emitOpError() << "argument of type " << argument.getType();
    if (!tensor && isStaged(argument))
      return emitOpError() << "staged argument of type " << argument.getType();
    if (!tensor)
      continue;
    for (StringAttr axis : tensor.getAxes())
      if (axisNumber(axis) < 0)
        return emitOpError() << "operand has axis " << axis
                             << ", which the kernel does not list";
  }
  return success();
}
