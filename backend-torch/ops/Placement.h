// Operators that do nothing but put tensors into their places.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

enum class PlacementKind : std::uint8_t { Join, Write };

/// The operator of that kind.
const char *nameOf(PlacementKind kind);

/// The placement that a node is, or nothing.
std::optional<Placement> placementOf(const Graph &graph, const Node &node);

} // namespace quern
