// Binds a node's arguments to the parameters of a library declaration.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

/// The first row of the node's overload that takes its arguments, or why none.
/// The compiler has refused the first `refused` rows that did.
Operation matchRows(const Graph &graph, const Node &node,
                    const OperatorTable &table, int refused = 0);

/// A Python number as the language writes it in a place of this type; an
/// integer as what is left of it there if it `wraps`.
std::optional<std::string> literalOf(const GraphArgument &argument, DType type,
                                     bool wraps = false);

} // namespace quern
