// Numbers that the host computes for a call before it launches anything, as
// operations in front of the dispatches of a schedule.
#pragma once

#include "dsl/schedule/KernelModel.h"

namespace mlir::arith {
enum class CmpIPredicate : std::uint64_t;
} // namespace mlir::arith

namespace quern {

class HostValues {
public:
  using Value = mlir::Value;
  /// The operations are added to `block`.
  HostValues(const KernelModel &model, mlir::Block &block);

  Value number(std::int64_t number);
  /// How many positions an axis has, a local one none where its bounds cross.
  Value extent(unsigned axis);
  Value extentOf(llvm::ArrayRef<unsigned> axes); ///< of all of them together
  /// The same, but at least one position, and some of an axis whose bounds
  /// values decide.
  Value someExtent(unsigned axis);
  /// How far a value moves from one position along an axis to the next, if that
  /// is the same everywhere.
  std::optional<Value> stepAlong(Value value, unsigned axis);

  Value add(Value a, Value b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, Value b);
  Value divide(Value a, Value b); ///< of numbers that are not negative
  Value smaller(Value a, Value b);
  Value larger(Value a, Value b);
  Value choose(Value condition, Value yes, Value no);
  /// How many parts of `size` a number has, the last one perhaps smaller.
  Value parts(Value all, Value size);

  Value isBelow(Value a, Value b);
  Value isBelow(Value a, std::int64_t b) { return isBelow(a, number(b)); }
  Value isEqual(Value a, std::int64_t b);
  Value isAtLeast(Value a, Value b);
  Value isAtLeast(Value a, std::int64_t b) { return isAtLeast(a, number(b)); }
  Value isAtMost(Value a, std::int64_t b);
  /// Conditions; null is one that always holds.
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value negated(Value a);
  /// Whether all conditions on extents hold.
  Value holds(mlir::ArrayAttr extents);

private:
  Value compare(mlir::arith::CmpIPredicate how, Value a, Value b);

  const KernelModel &model;
  mlir::OpBuilder builder;
  mlir::Location loc;
  Value yes; ///< what always holds
  llvm::DenseMap<std::int64_t, Value> numbers;
  llvm::DenseMap<unsigned, Value> sizes;
  llvm::DenseMap<Value, Value> opposites;
};

} // namespace quern
