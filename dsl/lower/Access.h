// An operand read or written at computed positions, and what may go wrong.
#pragma once

#include "dsl/schedule/KernelModel.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace quern {

struct Access {
  mlir::Operation *op;
  mlir::BlockArgument operand;
  mlir::OperandRange indices;
  std::optional<std::uint64_t> part;
};

/// Whether an index is the position along the axis that it indexes.
bool isOwnPosition(mlir::Value index, mlir::StringAttr axis);

/// How far a position moves from one along an axis to the next, where that is
/// constant.
std::optional<std::int64_t> coefficientAlong(const KernelModel &model,
                                             mlir::Value value, unsigned axis);

/// What may be found wrong when a kernel runs.
struct Suspect {
  mlir::Operation *op;
  std::int64_t site;         ///< its number (Sites)
  mlir::Value index, extent; ///< of a position that is checked
  mlir::Value when = {};     ///< where it matters; null: everywhere
};

} // namespace quern
