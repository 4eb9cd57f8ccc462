// What a launch of a schedule does, and when it runs.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <cstdint>
#include <optional>
#include <string>

#include "dsl/dialect/ScheduleEnums.h.inc"

namespace quern {
using qn::LaunchKind;
using qn::RowOrder;
using qn::TeamKind;
} // namespace quern
