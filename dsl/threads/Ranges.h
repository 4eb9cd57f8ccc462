// What is known of integers while compiling: ranges at the width of their type,
// and comparisons that hold where the text stands (docs/bounds.md).
#pragma once

#include "dsl/dialect/Dialect.h"

#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseSet.h"

namespace quern {

/// More threads in a block are refused.
inline constexpr std::int64_t maximumThreads = 1024;

/// Of a kernel: every bounds check stays, as if nothing could be proved.
inline constexpr char keepsChecksAttribute[] = "qn.keeps_checks";

class Ranges {
public:
  /// Warps have `warp` threads at most.
  Ranges(qn::KernelOp kernel, unsigned warp);

  /// What decides about `op` may be another thread's: nothing follows from it.
  void distrust(mlir::Operation *op) { doubtful.insert(op); }

  /// The range of an integer for every thread, whatever the branches around it.
  mlir::ConstantIntRanges range(mlir::Value value) const;

  /// Whether the signed value is from `low` to `high` in every thread.
  bool isWithin(mlir::Value value, std::int64_t low, std::int64_t high) const;

  /// Whether `0 <= index < extent` holds wherever `at` runs. `axis` names the
  /// extent; where it is empty the extent is the number `fixed`.
  bool isInside(mlir::Value index, mlir::StringRef axis, std::int64_t fixed,
                mlir::Operation *at) const;

private:
  friend class Proof;

  /// `root + offset`, without wrapping; a null root stands for 0.
  struct Sum {
    mlir::Value root;
    std::int64_t offset = 0;
  };
  /// `less` is below `more` as signed numbers.
  struct Fact {
    Sum less, more;
  };

  std::optional<std::int64_t>
  mostElements(llvm::ArrayRef<mlir::StringAttr> axes) const;

  mutable qn::KernelOp kernel; ///< MLIR knows no const operations
  bool isTrusting;             ///< false: any integer is any number
  std::array<std::int64_t, 3> blockLimits;
  unsigned warp;
  llvm::DenseSet<mlir::Operation *> doubtful;
};

} // namespace quern
