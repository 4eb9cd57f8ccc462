// How far a value moves from one position along an axis to the next.
#pragma once

#include "dsl/schedule/KernelModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace quern {

/// The steps of sums, differences and multiples of positions, as numbers of
/// `Maths`, which adds, subtracts and scales them and has `zero` for values
/// that do not move. Nothing where the step is not the same everywhere. Each
/// value is visited once, however many uses it has.
template <typename Maths> class StepAlong {
public:
  using Number = typename Maths::Number;

  StepAlong(const KernelModel &model, unsigned axis, Maths maths)
      : model(model), axis(axis), maths(std::move(maths)) {}

  std::optional<Number> of(mlir::Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    std::optional<Number> step = find(value);
    known[value] = step;
    return step;
  }

private:
  bool moves(mlir::Value value) const {
    return hasAxis(model.axesOf(value), axis);
  }

  std::optional<Number> find(mlir::Value value) {
    if (!moves(value))
      return maths.zero();
    mlir::Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &model.kernel.block())
      return std::nullopt;
    if (mlir::isa<qn::IndexOp, qn::AxisOp>(op))
      return maths.one();
    if (!mlir::isa<mlir::arith::AddIOp, mlir::arith::SubIOp,
                   mlir::arith::MulIOp>(op))
      return std::nullopt;
    std::optional<Number> left = of(op->getOperand(0));
    std::optional<Number> right = of(op->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    if (mlir::isa<mlir::arith::AddIOp>(op))
      return maths.add(*left, *right);
    if (mlir::isa<mlir::arith::SubIOp>(op))
      return maths.subtract(*left, *right);
    bool isLeft = moves(op->getOperand(0));
    mlir::Value factor = op->getOperand(isLeft ? 1 : 0);
    if (moves(factor))
      return std::nullopt;
    return maths.scale(isLeft ? *left : *right, factor);
  }

  const KernelModel &model;
  unsigned axis;
  Maths maths;
  llvm::DenseMap<mlir::Value, std::optional<Number>> known;
};

} // namespace quern
