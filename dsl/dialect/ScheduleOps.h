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
/// Whether a value is made of sizes and scalars of a call by arithmetic, so
/// that the host can compute it.
bool isOfHost(mlir::Value value);
/// What an entry needs of its dispatch, whose plans are of the right kinds.
mlir::LogicalResult verifyEntry(EntryOp op);
} // namespace quern::qn
