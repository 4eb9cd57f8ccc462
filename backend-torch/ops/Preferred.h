// Which nodes ATen runs although the library has rows for them.
#pragma once

#include "backend-torch/graph/Graph.h"
#include "jit/Jit.h"

namespace quern {

/// Why ATen is given a node, or nothing. Without `prefer` only where a kernel
/// cannot do what ATen does.
std::optional<std::string> whyAten(const Graph &graph, const Node &node,
                                   const MachineInfo &machine, bool prefer);

/// Why ATen is given a node after all that no other joined in a kernel, or
/// nothing.
std::optional<std::string> whyAtenAlone(const Graph &graph, const Node &node,
                                        const MachineInfo &machine);

/// The row of the library that was measured to be the fastest for a node of
/// this shape: its declaration, or nothing.
std::optional<std::string_view>
measuredRow(const Graph &graph, const Node &node, const MachineInfo &machine);

/// Whether a row is only for nodes that measuredRow() names it for.
bool isMeasuredOnly(std::string_view overload, std::string_view declaration);

/// The operators of the table that are a `what`: "convolution".
std::vector<std::string> preferredAs(std::string_view what);

} // namespace quern
