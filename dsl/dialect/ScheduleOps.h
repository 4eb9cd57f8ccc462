// The operations of a schedule in C++.
#pragma once

#include "dsl/dialect/Dialect.h"
#include "dsl/dialect/ScheduleEnums.h"

#define GET_OP_CLASSES
#include "dsl/dialect/ScheduleOps.h.inc"

namespace quern::qn {
/// Whether all values are first results of reductions; says so where not.
mlir::LogicalResult verifyReductions(mlir::Operation *op,
                                     mlir::ValueRange values);
/// What an entry needs of its dispatch, whose plans are of the right kinds.
mlir::LogicalResult verifyEntry(EntryOp op);
} // namespace quern::qn
