// Which parts of concatenations are stored where they belong as they are made.
#pragma once

#include "backend-torch/graph/Readers.h"
#include "backend-torch/groups/FusionPlan.h"

namespace quern {

/// Has the group that computes a part of a concatenation store it there, so
/// that it need not be copied; the reason why not, or nothing.
std::optional<std::string>
storeInPlace(FusionPlan &plan, const Readers &readers, int node, int part);

} // namespace quern
