// Construction and verification of positions, loads and stores.
#include "dsl/dialect/Dialect.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

/// The kernel must list the axis.
static LogicalResult verifyDeclared(Operation *op, StringRef axis) {
  auto kernel = op->getParentOfType<RowwiseOp>();
  if (kernel && kernel.axisNumber(axis) < 0)
    return op->emitOpError() << "the kernel has no axis '" << axis << "'";
  return success();
}

LogicalResult IndexOp::verify() { return verifyDeclared(*this, getAxis()); }

LogicalResult SizeOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && kernel.axisNumber(getAxis()) < 0)
    return emitOpError() << "the kernel has no axis '" << getAxis() << "'";
  return verifyDeclared(*this, getAxis());
}

LogicalResult RequireOp::verify() {
  if (getExtent() && !getValue().getType().isInteger(64))
    return emitOpError() << "an index of type " << getValue().getType();
  return success();
}

LogicalResult AxisOp::verify() {
  auto kernel = (*this)->getParentOfType<RowwiseOp>();
  if (kernel && kernel.axisNumber(getAxis()) >= 0)
    return emitOpError() << "axis '" << getAxis()
                         << "' is already an axis of the kernel";
  return success();
}

/// Whether a reduction of the kernel goes over the axis.
static bool isRemoved(RowwiseOp kernel, StringAttr axis) {
  return kernel
      .walk([&](ReduceOp reduce) {
        return llvm::is_contained(reduce.getAxes(), axis)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult AxisOp::canonicalize(AxisOp op, PatternRewriter &rewriter) {
  auto kernel = op->getParentOfType<RowwiseOp>();
  if (!op->use_empty() || !kernel || isRemoved(kernel, op.getAxisAttr()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

/// The type of what is read or written at one place of `tensor`.
static Type accessType(OperandType tensor, std::optional<uint64_t> part) {
  auto complex = dyn_cast<ComplexType>(tensor.getElementType());
  return part && complex ? complex.getElementType() : tensor.getElementType();
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value tensor) {
  build(builder, state, tensor, ValueRange());
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value tensor,
                   ValueRange indices, Value outside, Value when,
                   bool checked) {
  Type element = cast<OperandType>(tensor.getType()).getElementType();
  build(builder, state, element, tensor, indices, outside, when, checked,
        IntegerAttr());
}

LogicalResult LoadOp::verify() {
  OperandType tensor = getTensor().getType();
  if (getResult().getType() != accessType(tensor, getPart()))
    return emitOpError() << "gives " << getResult().getType() << " from "
                         << tensor;
  if (!getIndices().empty() && getIndices().size() != tensor.getAxes().size())
    return emitOpError() << getIndices().size() << " indices for "
                         << tensor.getAxes().size() << " axes";
  if (getOutside() && getOutside().getType() != getResult().getType())
    return emitOpError() << "outside value of type " << getOutside().getType()
                         << ", element of type " << getResult().getType();
  if (getIndices().empty() && (getOutside() || getChecked()) && !getWhen())
    return emitOpError("a load at the operand's own axes is in range");
  if (getWhen() && !getOutside() && !getChecked())
    return emitOpError("`when` needs an `outside` value or a check");
  if (getOutside() && getChecked())
    return emitOpError("`outside` and `checked` exclude each other");
  return success();
}

/// Whether values are arguments of a kernel that follow each other.
static bool areInRow(ValueRange values) {
  auto first = dyn_cast<BlockArgument>(values.front());
  return first && llvm::all_of(llvm::enumerate(values), [&](auto each) {
           auto argument = dyn_cast<BlockArgument>(each.value());
           return argument && argument.getOwner() == first.getOwner() &&
                  argument.getArgNumber() ==
                      first.getArgNumber() + each.index();
         });
}

LogicalResult JoinedOp::verify() {
  if (getTensors().empty())
    return emitOpError("joins no operands");
  OperandType tensor = getOperandType();
  for (Type type : getTensors().getTypes())
    if (type != tensor)
      return emitOpError() << "joins " << tensor << " and " << type;
  if (!areInRow(getTensors()) || !areInRow(getEnds()))
    return emitOpError("joins arguments that follow each other");
  if (!llvm::is_contained(tensor.getAxes(), getAxisAttr()))
    return emitOpError() << "joins along '" << getAxis()
                         << "', which is no axis of " << tensor;
  if (getResult().getType() != accessType(tensor, getPart()))
    return emitOpError() << "gives " << getResult().getType() << " from "
                         << tensor;
  return success();
}

LogicalResult LookupOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getTable().getType());
  if (!type || type.getRank() != 1)
    return emitOpError("a table has one dimension");
  if (type.getElementType() != getResult().getType())
    return emitOpError() << "gives " << getResult().getType() << " from "
                         << type;
  return success();
}

LogicalResult StoreOp::verify() {
  if (getValue().getType() != accessType(getTensor().getType(), getPart()))
    return emitOpError() << "writes " << getValue().getType() << " to "
                         << getTensor().getType();
  return success();
}

LogicalResult StoreOp::canonicalize(StoreOp op, PatternRewriter &rewriter) {
  auto load = op.getValue().getDefiningOp<LoadOp>();
  bool isThere = load && load.getTensor() == op.getTensor() &&
                 load.getIndices().empty() && load.getPart() == op.getPart();
  auto writes = [](Operation *user) { return isa<ScatterOp>(user); };
  if (!isThere || llvm::none_of(op.getTensor().getUsers(), writes))
    return failure();
  rewriter.eraseOp(op);
  return success();
}
