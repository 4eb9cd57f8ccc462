// In which order a graph's groups and other nodes run.
#pragma once

#include "backend-torch/groups/FusionPlan.h"
#include "backend-torch/groups/UnitGraph.h"

namespace quern {

/// Sets `plan.order`: the graph's own order as far as it goes, but that what
/// makes more memory than it lets go waits for its first reader. `groupsOf` has
/// the groups of a unit, `isDone` the nodes that no step is needed for.
void orderUnits(FusionPlan &plan, const UnitGraph &units,
                const std::map<int, std::vector<int>> &groupsOf,
                std::vector<bool> isDone);

} // namespace quern
