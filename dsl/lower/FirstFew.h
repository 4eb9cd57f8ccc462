// The smallest of words in memory, in their order, as code for a CPU.
#pragma once

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SmallVector.h"

namespace quern {

/// Arrays of 64-bit words, all as long as `words` and some room behind it.
/// Words are compared as unsigned numbers; where there are `places` words may
/// be equal, and those in front go first. All but the words are room to work
/// in.
struct FewMemory {
  mlir::Value words, first, spare;
  mlir::Value places, firstPlaces; ///< or null
  mlir::Value table;               ///< of `radixTable` words
};

/// Words of room that arrays need behind their last element.
unsigned fewSlack(unsigned lanes);

/// Orders the first `wanted` of `count` words; `wanted` is at most `count`, and
/// not 0. Gives the array of their places, or of the words where there are
/// none.
mlir::Value findFirst(mlir::OpBuilder &builder, mlir::Location location,
                      const FewMemory &memory, mlir::Value count,
                      mlir::Value wanted, unsigned lanes);

} // namespace quern
