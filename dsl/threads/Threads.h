// Explicit kernels on a CPU: blocks are units of a task, the threads of a block
// are vector lanes and loops.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/dialect/Dialect.h"
#include "dsl/target/TargetInfo.h"

namespace quern {

/// Replaces `kernel` by its plan and task functions at the end of its module.
/// Nothing after a diagnostic.
std::optional<KernelAbi> lowerThreads(qn::KernelOp kernel,
                                      const TargetInfo &target);

} // namespace quern
