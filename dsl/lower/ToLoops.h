// A kernel of the qn dialect becomes functions made of loops.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/dialect/Dialect.h"
#include "dsl/target/TargetInfo.h"

#include <optional>

namespace quern {

/// Replaces a scheduled kernel by the plan and task functions of the launches
/// that `choose` names, or of all without it; nothing, and a diagnostic, when
/// that is not possible.
std::optional<KernelAbi> lowerToLoops(qn::RowwiseOp kernel,
                                      const TargetInfo &target,
                                      const ChooseVariant &choose = {});

} // namespace quern
