// Values that launches of their own leave in the workspace.
#pragma once

#include "dsl/schedule/KernelModel.h"

#include "llvm/ADT/SetVector.h"

namespace quern {

/// Writes a value of a kernel to the workspace, its axes in this order;
/// everything reads it from there.
inline void stage(qn::RowwiseOp kernel, mlir::Value value,
                  mlir::ArrayRef<mlir::StringAttr> axes,
                  mlir::OpBuilder &builder) {
  mlir::Location loc = value.getLoc();
  mlir::Type type = value.getType();
  mlir::BlockArgument tensor = kernel.addStaged(type, axes, loc);
  auto store = qn::StoreOp::create(builder, loc, value, tensor, nullptr);
  mlir::Value read =
      qn::LoadOp::create(builder, loc, type, tensor, mlir::ValueRange(),
                         mlir::Value(), mlir::Value(), false, nullptr);
  value.replaceAllUsesExcept(read, store);
}

/// The axis along which the elements of an operand are neighbours; nothing
/// where no stride says so.
inline std::optional<unsigned> neighboursOf(qn::RowwiseOp kernel,
                                            qn::OperandType type) {
  for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
    if (stride == StrideClass::One)
      return kernel.axisNumber(name);
  return std::nullopt;
}

/// Of a value that is stored for a launch of its own: a small number of
/// elements that each of many positions along `rows` reads.
void addRepeats(const KernelModel &model, AxisSet small, AxisSet rows,
                llvm::SmallSetVector<mlir::Attribute, 2> &when);

/// From now on the kernel runs instead of a copy of what it is now, for calls
/// whose extents `when` admits.
void keepOtherForm(qn::RowwiseOp kernel, mlir::ArrayRef<mlir::Attribute> when);

} // namespace quern
