// Quotients of vectors of integers, which no machine divides, by floats.
#pragma once

#include "mlir/IR/Builders.h"

namespace quern {

/// What `op` gives for vectors of integers, or null where it is no division of
/// such. Divisors are not 0, and no quotient overflows.
mlir::Value divideVectors(mlir::OpBuilder &b, mlir::Operation *op,
                          mlir::ValueRange operands);

class Emitter;
struct Frame;

/// A division of floats in lanes on a GPU by a number that an outer frame has,
/// or null where it is another one.
mlir::Value divideByOuter(Emitter &emitter, Frame &frame, mlir::Operation *op,
                          mlir::ValueRange operands);

} // namespace quern
