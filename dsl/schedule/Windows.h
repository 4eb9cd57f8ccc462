// Loads at computed positions that may lie outside: which axes decide, and
// which neighbours share what is read.
#pragma once

#include "dsl/schedule/KernelModel.h"

namespace quern {

/// Calls `visit` with every load behind `value` and the number of each of its
/// positions that may lie outside.
void eachBound(const KernelModel &model, mlir::Value value,
               llvm::function_ref<void(qn::LoadOp, unsigned)> visit);
/// The axes that decide whether the loads behind `value` are inside.
AxisSet boundingAxes(const KernelModel &model, mlir::Value value);
/// Those that meet one of `with` in one position of a load behind `value`.
AxisSet boundingPartners(const KernelModel &model, mlir::Value value,
                         AxisSet with);

/// A parallel axis along which windows of the reductions behind `stores` lie
/// beside each other, not the lanes' own, or -1: several of its positions
/// share weights and the bounds of the lanes.
int windowAxis(const KernelModel &model, llvm::ArrayRef<qn::StoreOp> stores,
               AxisSet parallel, unsigned lane);

/// Whether lanes along an axis read every element for itself.
bool gathers(const KernelModel &model, qn::LoadOp load, int lane);

} // namespace quern
