// What lies in memory for a block of rows.
#pragma once

#include "dsl/lower/Frame.h"

#include <functional>

namespace quern {

/// A value over rows, and over an inner axis where it has one.
struct Buffered {
  llvm::SmallVector<unsigned> rows;
  std::optional<unsigned> inner;
  mlir::Value first; ///< flattened position of the block's first row
  /// The place of a row and a column.
  std::function<mlir::Value(Frame &, mlir::Value, mlir::Value)> pointer;
};

} // namespace quern
