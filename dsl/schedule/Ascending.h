// What the steps of a reduction know of places counted in their order.
#pragma once

#include "dsl/schedule/KernelModel.h"

namespace quern {

/// Comparisons in the step of `op` between the number of the element at hand
/// and a state that is negative or the number of an earlier one, each with what
/// it gives where elements come in their written order.
llvm::SmallVector<std::pair<mlir::Value, bool>>
ascendingTests(const KernelModel &model, qn::ReduceOp op);

} // namespace quern
