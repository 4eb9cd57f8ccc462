// Errors about the text that only lowering sees.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace quern {

/// Says what is wrong at `at`, and the code that the error has: a note.
inline mlir::InFlightDiagnostic refuse(mlir::Operation *at,
                                       llvm::StringRef code) {
  mlir::InFlightDiagnostic error = at->emitError();
  error.attachNote() << code;
  return error;
}

} // namespace quern
