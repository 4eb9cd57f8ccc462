// A kernel of the qn dialect becomes functions made of loops.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/dialect/Dialect.h"
#include "dsl/target/TargetInfo.h"

#include <optional>

namespace quern {

/// Replaces a kernel by the plan and task functions of its launches; nothing,
/// and a diagnostic, when that is not possible.
std::optional<KernelAbi> lowerToLoops(qn::RowwiseOp kernel,
                                      const TargetInfo &target);

/// Makes a read of joined operands one of each, under a condition.
void splitJoined(qn::RowwiseOp kernel);

} // namespace quern
