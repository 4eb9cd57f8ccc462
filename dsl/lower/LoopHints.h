// What LLVM and the vendors' assemblers are told of a loop.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace quern {

/// For a loop whose turns one beside the other would not fit in registers.
void neverUnroll(mlir::scf::ForOp loop);

/// For a loop of a known number of rounds whose arrays become registers only
/// where none of it is left.
void fullyUnroll(mlir::scf::ForOp loop);

} // namespace quern
