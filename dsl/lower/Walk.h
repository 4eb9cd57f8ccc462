// A read whose positions move by equal steps from lane to lane.
#pragma once

#include "dsl/dialect/Dialect.h"
#include "dsl/lower/Frame.h"

namespace quern {

struct Walk {
  Walk(qn::LoadOp load, Copies copies) : load(load), copies(copies) {}
  qn::OperandType type() { return load.getTensor().getType(); }

  qn::LoadOp load;
  Copies copies;
  llvm::SmallVector<mlir::Value> steps;   ///< of each index; null: none
  mlir::Value apart = {};                 ///< elements from lane to lane
  llvm::SmallVector<mlir::Value> indices; ///< of the first lane
  mlir::Value pointer = {};               ///< to its element
};

} // namespace quern
