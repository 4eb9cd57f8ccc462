// The entries whose teams keep rows from one pass to the next.
#pragma once

#include "dsl/gpu/Registers.h"
#include "dsl/schedule/EntryPlan.h"

namespace quern {

/// Threads that keep so much of a row each.
EntryPlan keeping(EntryPlan entry, unsigned kept, const TargetInfo &target);

/// Adds the blocks, and clusters of them, that keep a row in registers, or a
/// part of it in shared memory. `operations`: what is done to an element.
void keepInBlocks(std::vector<EntryPlan> &made, EntryPlan block,
                  const RowRoom &room, unsigned operations,
                  const TargetInfo &target);

} // namespace quern
