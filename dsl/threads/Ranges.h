// What is known of integers while compiling: bounds, and comparisons that hold
// where the text stands.
#pragma once

#include "dsl/dialect/Dialect.h"

#include "llvm/ADT/DenseSet.h"

namespace quern {

struct Interval {
  std::int64_t low, high;
};

/// More threads in a block are refused.
inline constexpr std::int64_t maximumThreads = 1024;

class Ranges {
public:
  /// Warps have `warp` threads at most.
  Ranges(qn::KernelOp kernel, unsigned warp);

  /// What decides about `op` may be another thread's: nothing follows from it.
  void distrust(mlir::Operation *op) { doubtful.insert(op); }

  /// Bounds of an i64 value for every thread; nothing: any number.
  std::optional<Interval> interval(mlir::Value value, unsigned depth = 0) const;

  /// Whether `0 <= index < extent` holds wherever `at` runs. `size` is the
  /// extent's value, or null where it is the number `fixed`.
  bool isInside(mlir::Value index, mlir::StringRef axis, std::int64_t fixed,
                mlir::Operation *at) const;

private:
  /// `value` is `root + offset`.
  struct Sum {
    mlir::Value root;
    std::int64_t offset = 0;
  };
  /// `less` is below `more`; a null root stands for 0.
  struct Fact {
    Sum less, more;
  };
  using Facts = llvm::SmallVector<Fact, 8>;

  static Sum split(mlir::Value value);
  Facts factsAt(mlir::Operation *at) const;
  void addCondition(mlir::Value condition, bool holds, Facts &facts) const;
  bool isBelow(mlir::Value value, mlir::StringRef axis, std::int64_t fixed,
               const Facts &facts, unsigned depth = 0) const;
  bool isNatural(mlir::Value value, const Facts &facts,
                 unsigned depth = 0) const;
  bool countsElements(mlir::Value value) const;
  std::optional<Interval> arithmetic(mlir::Operation *op, unsigned depth) const;
  std::optional<Interval> ofArgument(mlir::BlockArgument argument,
                                     unsigned depth) const;

  mutable qn::KernelOp kernel; ///< MLIR knows no const operations
  std::array<std::int64_t, 3> blockLimits;
  std::int64_t longestAxis;
  unsigned warp;
  llvm::DenseSet<mlir::Operation *> doubtful;
};

} // namespace quern
