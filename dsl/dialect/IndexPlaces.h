// Where the text has the indices of an operation, for messages about them.
#pragma once

#include "mlir/IR/Operation.h"

namespace quern::qn {

/// Keeps a location for each index of `op` next to the one of `op` itself;
/// null: the index has no text of its own.
void setIndexPlaces(mlir::Operation *op,
                    llvm::ArrayRef<mlir::Attribute> places);

/// The location of index `number` of `op`, or of `op` where none is known.
mlir::Location indexPlace(mlir::Operation *op, unsigned number);

} // namespace quern::qn
