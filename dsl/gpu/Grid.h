// Explicit kernels on a GPU: threads, blocks and warps are the device's own.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/threads/ThreadModel.h"

namespace quern {

/// Replaces the model's kernel by an entry at the end of its module. Nothing
/// after a diagnostic.
std::optional<KernelAbi> lowerToGrid(const ThreadModel &model,
                                     const TargetInfo &target);

} // namespace quern
