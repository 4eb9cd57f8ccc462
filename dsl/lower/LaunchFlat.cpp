// Lines that follow each other in the memory of every operand are one line: it
// has no ends inside, where vectors would be filled in part.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Adds the operands that a value is made of; false where it is made of more
/// than numbers and, element by element, of operands that lie along `axes`.
static bool takeOperands(Value value, const KernelModel &model, AxisSet axes,
                         llvm::SetVector<Value> &operands) {
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second || isa<qn::SizeOp>(op))
      continue;
    if (auto load = dyn_cast<qn::LoadOp>(op)) {
      AxisSet own = model.axesOf(load.getTensor().getType());
      if (!load.getIndices().empty() || (own && own != axes))
        return false;
      if (own)
        operands.insert(load.getTensor());
      continue;
    }
    if (!isa<arith::ArithDialect>(op->getDialect()))
      return false;
    llvm::append_range(open, op->getOperands());
  }
  return true;
}

/// The operands of a launch that does nothing but store such values; else none.
llvm::SetVector<Value> LaunchBuilder::flatOperands() const {
  llvm::SetVector<Value> operands;
  if (target.isGpu() || launch.kind != LaunchKind::Stores || launch.scatter ||
      launch.sort || launch.compact || launch.when || launch.turned >= 0 ||
      launch.axes.size() < 2 ||
      static_cast<int>(launch.axes.back().axis) != launch.lane)
    return {};
  AxisSet axes;
  for (const AxisPlan &axis : launch.axes)
    axes |= axisBit(axis.axis);
  for (qn::StoreOp store : launch.stores) {
    if (model.axesOf(store.getTensor().getType()) != axes ||
        !takeOperands(store.getValue(), model, axes, operands))
      return {};
    operands.insert(store.getTensor());
  }
  return operands;
}

/// Whether the lines of all these operands follow each other.
Value LaunchBuilder::linesFollow(Frame &root, ArrayRef<Value> operands) {
  Value all;
  for (Value operand : operands) {
    auto argument = cast<BlockArgument>(operand);
    auto type = cast<qn::OperandType>(argument.getType());
    llvm::SmallDenseMap<unsigned, Value> strides;
    for (auto [number, name] : llvm::enumerate(type.getAxes())) {
      bool isOne = type.getStrides()[number] == StrideClass::One;
      strides[model.axisOf(name)] =
          isOne ? emitter.constant(root, 1)
                : emitter.stride(root, argument, number);
    }
    for (auto [outer, inner] :
         llvm::zip(ArrayRef(launch.axes), ArrayRef(launch.axes).drop_front())) {
      Value length = extent(root, inner);
      OpBuilder &b = emitter.in(root);
      Value line = arith::MulIOp::create(b, loc, strides[inner.axis], length);
      Value follows = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            strides[outer.axis], line);
      all = all ? arith::AndIOp::create(b, loc, all, follows) : follows;
    }
  }
  return all;
}

/// How many elements lie in front of a unit.
Value LaunchBuilder::elementsBefore(Frame &root, Value unit) {
  Value before;
  for (auto [axis, at] : llvm::zip(launch.axes, firstPosition(root, unit))) {
    Value size = tile(root, axis), length = extent(root, axis);
    OpBuilder &b = emitter.in(root);
    Value own = arith::MulIOp::create(b, loc, at, size);
    own = arith::MinUIOp::create(b, loc, own, length);
    if (before) {
      before = arith::MulIOp::create(b, loc, before, length);
      own = arith::AddIOp::create(b, loc, before, own);
    }
    before = own;
  }
  return before;
}

/// The units of a task as one line.
void LaunchBuilder::flatUnits(Frame &frame, Value begin, Value end) {
  Value lower = elementsBefore(frame, begin);
  Value upper = elementsBefore(frame, end);
  Value zero = emitter.constant(frame, 0);
  for (const AxisPlan &axis : ArrayRef(launch.axes).drop_back())
    frame.bind(Binding{.axis = axis.axis, .position = zero});
  SmallVector<LoopSpec> loops{{launch.axes.back(), lower, upper}};
  elementLoops(frame, loops);
}

/// The units of a task, as one line where that is what they are.
void LaunchBuilder::units(Frame &root, Value begin, Value end) {
  llvm::SetVector<Value> operands = flatOperands();
  if (operands.empty())
    return unitByUnit(root, begin, end);
  Value follow = linesFollow(root, operands.getArrayRef());
  auto branch = scf::IfOp::create(emitter.in(root), loc, follow, true);
  Operation *anchor = std::exchange(root.anchor, branch);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    Frame side = Frame::inside(root, block);
    side.anchor = block->getTerminator();
    if (block == branch.thenBlock())
      flatUnits(side, begin, end);
    else
      unitByUnit(side, begin, end);
  }
  root.anchor = anchor;
}
