// Positions that the text itself keeps within an axis.
#pragma once

#include "dsl/schedule/KernelModel.h"

namespace quern {

/// Whether `index` is within [0, extent of `axis`) for certain, unless that is
/// empty.
bool isHeld(mlir::Value index, mlir::StringAttr axis);

} // namespace quern
