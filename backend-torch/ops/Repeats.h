// What a graph computes twice, as it does where every layer makes its own mask.
#pragma once

#include "backend-torch/graph/Graph.h"

namespace quern {

/// The graph without calls that would give what an earlier one gave. The same
/// graph where there are none.
std::shared_ptr<const Graph> withoutRepeats(std::shared_ptr<const Graph> graph);

} // namespace quern
