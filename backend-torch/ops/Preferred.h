// Which nodes ATen runs although the library has rows for them.
#pragma once

#include "backend-torch/graph/Graph.h"

namespace quern {

/// Why ATen is given a node, or nothing. Without `prefer` only where a kernel
/// cannot do what ATen does.
std::optional<std::string> whyAten(const Graph &graph, const Node &node,
                                   bool prefer);

/// The row of the library that was measured to be the fastest for a node of
/// this shape: its declaration, or nothing.
std::optional<std::string_view> measuredRow(const Graph &graph,
                                            const Node &node);

/// Whether a 3 by 3 convolution of channels-last images in f32 is faster by
/// tiles; height and width of its results.
bool paysByTiles(std::int64_t images, std::int64_t channels,
                 std::int64_t outputs, std::int64_t height, std::int64_t width);

/// Whether a row is only for nodes that measuredRow() names it for.
bool isMeasuredOnly(std::string_view overload, std::string_view declaration);

/// The operators of the table that are a `what`: "convolution".
std::vector<std::string> preferredAs(std::string_view what);

} // namespace quern
