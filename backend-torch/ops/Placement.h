// Operators that do nothing but put tensors into their places.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

/// The placement that a node is, or nothing.
std::optional<Placement> placementOf(const Graph &graph, const Node &node);

} // namespace quern
