// The axes along which tensors of a list may differ.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/ADT/SmallVector.h"

namespace quern::typed {

/// The axes of lists that `concat` joins, in the order of the axis table. In
/// every other place such an axis has the sum of the tensors' extents.
llvm::SmallVector<AxisId, 2> joinedAxes(const Declaration &declaration);

/// Whether tensors of this parameter have the axis.
bool hasAxis(const Parameter &parameter, AxisId axis);

} // namespace quern::typed
