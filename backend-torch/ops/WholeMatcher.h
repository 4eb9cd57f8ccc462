// Binds a node to a library declaration as it is: every argument in the form
// the binder takes, dimensions in the order the declaration names them.
#pragma once

#include "backend-torch/ops/RowBinding.h"

#include <variant>

namespace quern {

/// The call, or why the declaration cannot be launched by itself. `graph` is
/// only read; sizes are those of its table.
std::variant<WholeCall, std::string> matchWhole(const Graph &graph,
                                                const Node &node,
                                                const OperatorRow &row,
                                                const RowBinding &binding);

} // namespace quern
