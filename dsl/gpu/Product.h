// A sum of products that is made in tiles, by matrix instructions or by lanes.
#pragma once

#include "dsl/schedule/Schedule.h"

namespace quern {

/// `result[batch…, row, column] = sum(left * right over depth)`: `left` has no
/// column, `right` no row.
struct MatrixProduct {
  qn::ReduceOp sum;
  mlir::Value left, right; ///< the factors before they were widened
  /// The factors are as wide as the sum, and no matrix instruction takes them
  /// unrounded: each lane multiplies what it reads.
  bool byLanes = false;
  unsigned row = 0, column = 0, depth = 0;
  /// A factor that is an operand with neighbours along the depth, or along its
  /// other axis.
  struct Side {
    mlir::BlockArgument operand;
    bool alongDepth = false;
  };
  Side leftSide = {}, rightSide = {};
  bool isPlain() const { return leftSide.operand && rightSide.operand; }
  mlir::Type sumType() const { return sum->getResult(0).getType(); }
  unsigned elementBytes() const {
    return left.getType().getIntOrFloatBitWidth() / 8;
  }
};

/// The product all stores of a launch are made of, if it is one.
std::optional<MatrixProduct> findProduct(const KernelModel &model,
                                         const LaunchPlan &launch,
                                         const TargetInfo &target);

} // namespace quern
