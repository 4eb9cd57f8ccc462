// Values that launches of their own leave in the workspace.
#pragma once

#include "dsl/dialect/Dialect.h"

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

} // namespace quern
