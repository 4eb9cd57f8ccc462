// Nodes of which a measured row gives only some results, as two nodes.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

/// The graph with every such node taken apart: one computes what the row gives,
/// the other the rest. The same graph where there is none.
std::shared_ptr<const Graph> partedByRows(std::shared_ptr<const Graph> graph,
                                          const OperatorTable &table);

} // namespace quern
