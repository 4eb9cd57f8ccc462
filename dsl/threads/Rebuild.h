// Branches and loops of a text made anew around what an emitter makes of their
// insides.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace quern {

/// Stands at the end of a block that nothing is in yet.
void enter(mlir::OpBuilder &b, mlir::Block *block);

/// A branch with the sides of `op`: `side` makes what is inside of one, given
/// as it is in `op`, and gives what it yields.
mlir::scf::IfOp rebuiltIf(
    mlir::OpBuilder &b, mlir::Location loc, mlir::scf::IfOp op,
    mlir::TypeRange types, mlir::Value condition,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Block &, bool)>
        side);

/// What `body` makes where `good` (null: always) holds, and zero elsewhere; of
/// no `type` nothing.
mlir::Value guardedBy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value good,
                      mlir::Type type, llvm::function_ref<mlir::Value()> body);

} // namespace quern
