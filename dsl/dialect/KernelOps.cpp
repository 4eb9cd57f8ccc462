// Construction and verification of kernels.
#include "dsl/dialect/Dialect.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

template <typename Op>
static void buildFrame(OpBuilder &builder, OperationState &state,
                       StringRef name, ArrayRef<StringAttr> axes,
                       TypeRange argumentTypes) {
  state.addAttribute(Op::getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  SmallVector<Attribute> names(axes.begin(), axes.end());
  state.addAttribute(Op::getAxesAttrName(state.name),
                     builder.getArrayAttr(names));
  Block &block = state.addRegion()->emplaceBlock();
  for (Type type : argumentTypes)
    block.addArgument(type, state.location);
}

template <typename Op> static int numberOfAxis(Op op, StringRef name) {
  for (auto [number, axis] :
       llvm::enumerate(op.getAxes().template getAsRange<StringAttr>()))
    if (axis.getValue() == name)
      return number;
  return -1;
}

template <typename Op> static unsigned numberOfArgument(Op op, unsigned index) {
  if (auto numbers = op.getNumbers())
    return (*numbers)[index];
  bool tensor = isa<OperandType>(op.block().getArgument(index).getType());
  return llvm::count_if(op.block().getArguments().take_front(index),
                        [&](BlockArgument argument) {
                          return isa<OperandType>(argument.getType()) == tensor;
                        });
}

/// Lifted text reads an operand where its axes stand, so that each stands once;
/// threads give an index for each.
template <typename Op>
static LogicalResult verifyAxes(Op op, OperandType operand) {
  for (auto [number, axis] : llvm::enumerate(operand.getAxes())) {
    if (op.axisNumber(axis) < 0)
      return op.emitOpError() << "operand has axis " << axis
                              << ", which the kernel does not list";
    if (isa<RowwiseOp>(op) &&
        llvm::is_contained(operand.getAxes().take_front(number), axis))
      return op.emitOpError() << "operand has axis " << axis << " twice";
  }
  return success();
}

/// An indexed operand may have axes of its own; they still need extents.
template <typename Op> static LogicalResult verifyFrame(Op op) {
  auto axes = op.getAxes().template getAsRange<StringAttr>();
  for (auto [number, axis] : llvm::enumerate(axes))
    if (op.axisNumber(axis) != static_cast<int>(number))
      return op.emitOpError() << "axis " << axis << " occurs twice";
  unsigned count = op.callerArguments();
  if (op.getNumbers() && op.getNumbers()->size() != count)
    return op.emitOpError() << op.getNumbers()->size() << " numbers for "
                            << count << " arguments";
  for (BlockArgument argument : op.block().getArguments()) {
    auto tensor = dyn_cast<OperandType>(argument.getType());
    if (!tensor && !argument.getType().isIntOrFloat())
      return op.emitOpError() << "argument of type " << argument.getType();
    if (tensor && failed(verifyAxes(op, tensor)))
      return failure();
  }
  return success();
}

void RowwiseOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      ArrayRef<StringAttr> axes, TypeRange argumentTypes) {
  buildFrame<RowwiseOp>(builder, state, name, axes, argumentTypes);
}

int RowwiseOp::axisNumber(StringRef name) { return numberOfAxis(*this, name); }

unsigned RowwiseOp::numberOf(unsigned index) {
  return numberOfArgument(*this, index);
}

/// Reductions, scans, sorts and what writes to places name axes of the kernel,
/// or local ones.
static LogicalResult verifyNamedAxes(RowwiseOp kernel) {
  llvm::DenseSet<StringAttr> known;
  known.insert_range(kernel.getAxes().getAsRange<StringAttr>());
  kernel.getBody().walk([&](AxisOp op) { known.insert(op.getAxisAttr()); });
  auto check = [&](Operation *op, ArrayAttr axes) -> WalkResult {
    for (auto axis : axes.getAsRange<StringAttr>())
      if (!known.contains(axis))
        return op->emitOpError() << "the kernel has no axis " << axis;
    return WalkResult::advance();
  };
  WalkResult done = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return check(op, reduce.getAxes());
    if (auto scan = dyn_cast<ScanOp>(op))
      return check(op, Builder(op).getArrayAttr({scan.getAxisAttr()}));
    if (auto sort = dyn_cast<SortOp>(op))
      return check(op, Builder(op).getArrayAttr({sort.getAxisAttr()}));
    if (auto compact = dyn_cast<CompactOp>(op))
      return check(op, Builder(op).getArrayAttr({compact.getAxisAttr()}));
    auto scatter = dyn_cast<ScatterOp>(op);
    return scatter && scatter.getOver() ? check(op, *scatter.getOver())
                                        : WalkResult::advance();
  });
  return failure(done.wasInterrupted());
}

BlockArgument RowwiseOp::addStaged(Type element, ArrayRef<StringAttr> axes,
                                   Location location) {
  SmallVector<StrideClass, 4> strides(axes.size(), StrideClass::Dynamic);
  if (!strides.empty())
    strides.back() = StrideClass::One;
  setStaged(getStaged().value_or(0) + 1);
  return block().addArgument(
      OperandType::get(getContext(), element, axes, strides), location);
}

LogicalResult RowwiseOp::verifyRegions() {
  std::uint64_t staged = getStaged().value_or(0);
  if (staged > block().getNumArguments())
    return emitOpError() << staged << " staged arguments of "
                         << block().getNumArguments();
  for (BlockArgument argument : block().getArguments())
    if (!isa<OperandType>(argument.getType()) && isStaged(argument))
      return emitOpError() << "staged argument of type " << argument.getType();
  if (getInsteadOf().has_value() != getWhen().has_value())
    return emitOpError("runs instead of another one, but not when");
  if (std::optional<ArrayAttr> when = getWhen())
    for (auto extents : when->getAsRange<ExtentsAttr>())
      for (StringAttr axis : extents.getAxes())
        if (axisNumber(axis) < 0)
          return emitOpError() << "the kernel has no axis " << axis;
  if (failed(verifyFrame(*this)))
    return failure();
  return verifyNamedAxes(*this);
}

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     ArrayRef<StringAttr> axes, TypeRange argumentTypes) {
  buildFrame<KernelOp>(builder, state, name, axes, argumentTypes);
}

int KernelOp::axisNumber(StringRef name) { return numberOfAxis(*this, name); }

unsigned KernelOp::numberOf(unsigned index) {
  return numberOfArgument(*this, index);
}

LogicalResult KernelOp::verifyRegions() {
  if (llvm::range_size(getBody().getOps<LaunchOp>()) != 1)
    return emitOpError("holds one `qn.launch`");
  return verifyFrame(*this);
}
