// A read whose positions move by equal steps from lane to lane.
#pragma once

#include "dsl/lower/Access.h"
#include "dsl/lower/Frame.h"

namespace quern {

class Emitter;

struct Walk {
  Walk(qn::LoadOp load, Copies copies) : load(load), copies(copies) {}
  qn::OperandType type() { return load.getTensor().getType(); }

  qn::LoadOp load;
  Copies copies;
  llvm::SmallVector<mlir::Value> steps;   ///< of each index; null: none
  mlir::Value apart = {};                 ///< elements from lane to lane
  llvm::SmallVector<mlir::Value> indices; ///< of the first lane
  mlir::Value pointer = {};               ///< to its element
  mlir::Value offset = {}; ///< of it, in elements; null: the operand's first
};

/// How many elements lie in front of one: the sum of the indices that are the
/// same for all lanes, and that of the others; each null where it has none.
std::pair<mlir::Value, mlir::Value> elementOffset(Emitter &emitter,
                                                  Frame &frame,
                                                  const Access &access,
                                                  mlir::ValueRange indices);

} // namespace quern
