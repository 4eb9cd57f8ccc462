// On which device a node works.
#pragma once

#include "backend-torch/graph/Graph.h"

namespace quern {

/// That of the tensors that a node gives and reads; the host's where it has
/// none.
DeviceId deviceOf(const Graph &graph, const Node &node);

bool isOnHost(const Graph &graph, const Node &node);

/// Whether ATen has a kernel of its own for the node on a GPU.
bool isAtensOnDevice(const Graph &graph, const Node &node);

/// Why no kernel can be launched for the node, which needs all of its tensors
/// in one memory.
std::optional<std::string> whyNoDevice(const Graph &graph, const Node &node);

} // namespace quern
