// An operand read or written at computed positions.
#pragma once

#include "mlir/IR/Operation.h"

#include <optional>

namespace quern {

struct Access {
  mlir::Operation *op;
  mlir::BlockArgument operand;
  mlir::OperandRange indices;
  std::optional<std::uint64_t> part;
};

} // namespace quern
