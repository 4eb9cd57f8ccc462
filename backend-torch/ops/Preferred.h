// Which nodes ATen runs although the library has rows for them.
#pragma once

#include "backend-torch/graph/Graph.h"

namespace quern {

/// Why ATen is given a node, or nothing. Without `prefer` only where a kernel
/// cannot do what ATen does.
std::optional<std::string> whyAten(const Graph &graph, const Node &node,
                                   bool prefer);

/// The operators of the table that are a `what`: "convolution".
std::vector<std::string> preferredAs(std::string_view what);

} // namespace quern
