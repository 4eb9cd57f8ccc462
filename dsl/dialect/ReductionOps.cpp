// Type inference and verification of reductions, scans and scatters.
#include "dsl/dialect/Dialect.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInits().getTypes());
  return success();
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInits().getTypes());
  return success();
}

/// A region of a monoid takes `expected` and yields the states.
static LogicalResult verifyMonoidRegion(Operation *op, Region &region,
                                        StringRef name, TypeRange expected,
                                        TypeRange states) {
  if (TypeRange(region.getArgumentTypes()) != expected)
    return op->emitOpError() << name << " takes " << region.getArgumentTypes()
                             << ", expected " << expected;
  auto yield = region.front().empty()
                   ? YieldOp()
                   : dyn_cast<YieldOp>(region.front().back());
  if (!yield || yield.getOperandTypes() != states)
    return op->emitOpError() << name << " must yield " << states;
  return success();
}

template <typename Op> static LogicalResult verifyMonoid(Op op) {
  SmallVector<Type> states(op.getInits().getTypes());
  SmallVector<Type> stepped = states, merged = states;
  llvm::append_range(stepped, op.getInputs().getTypes());
  llvm::append_range(merged, states);
  if (failed(verifyMonoidRegion(op, op.getStep(), "step", stepped, states)))
    return failure();
  return verifyMonoidRegion(op, op.getMerge(), "merge", merged, states);
}

LogicalResult ReduceOp::verify() {
  if (getInits().empty())
    return emitOpError("a reduction has at least one state");
  if (getAxes().empty())
    return emitOpError("a reduction removes at least one axis");
  return success();
}

LogicalResult ReduceOp::verifyRegions() { return verifyMonoid(*this); }

LogicalResult ScanOp::verify() {
  if (getInits().empty())
    return emitOpError("a scan has at least one state");
  return success();
}

LogicalResult ScanOp::verifyRegions() { return verifyMonoid(*this); }

/// Values that are written together are the parts of one element.
template <typename Op> static LogicalResult verifyParts(Op op) {
  OperandType tensor = op.getTensor().getType();
  SmallVector<Type, 2> parts = {tensor.getElementType()};
  if (auto complex = dyn_cast<ComplexType>(parts.front()))
    parts.assign(2, complex.getElementType());
  if (TypeRange(op.getValues().getTypes()) != TypeRange(parts))
    return op.emitOpError()
           << "writes " << op.getValues().getTypes() << " to " << tensor;
  return success();
}

LogicalResult ScatterOp::verify() {
  OperandType tensor = getTensor().getType();
  if (failed(verifyParts(*this)))
    return failure();
  if (getIndices().size() != tensor.getAxes().size())
    return emitOpError() << getIndices().size() << " indices for "
                         << tensor.getAxes().size() << " axes";
  return success();
}

ReduceOp CompactOp::getCounting() {
  return getCount().getDefiningOp<ReduceOp>();
}

LogicalResult CompactOp::verify() {
  if (getTensor().getType().getAxes().size() != 1)
    return emitOpError("writes an operand of one axis");
  ReduceOp counting = getCounting();
  if (!counting || counting.getAxes().size() != 1 ||
      counting.getAxes()[0] != getAxisAttr())
    return emitOpError("counts along its axis");
  return verifyParts(*this);
}

LogicalResult SortOp::verify() {
  OperandType order = getOrder().getType();
  auto kernel = (*this)->getParentOfType<RowwiseOp>();
  if (!kernel || !isa<BlockArgument>(getOrder()) ||
      !kernel.isStaged(getOrder()))
    return emitOpError("writes a staged operand");
  if (!order.getElementType().isInteger(64) || order.getAxes().empty())
    return emitOpError() << "writes positions to " << order;
  return success();
}
