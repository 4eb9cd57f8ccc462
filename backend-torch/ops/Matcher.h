// Binds a node's arguments to the parameters of a library declaration.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

/// The first row of the node's overload that takes its arguments, or why none.
/// The compiler has refused the first `refused` rows that did.
Operation matchRows(const Graph &graph, const Node &node,
                    const OperatorTable &table, int refused = 0);

} // namespace quern
