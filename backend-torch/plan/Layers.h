// Products with a row added to them as oneDNN's linear layers.
#pragma once

#include "backend-torch/plan/LaunchPlan.h"

namespace quern {

/// Makes `addmm` of bf16 one call of oneDNN's linear layer where that has the
/// same values: ATen copies the row to each row of the result, and has oneDNN
/// add its product there. Whether it did.
bool chooseLayer(const Graph &graph, const Node &node, CallStep &call);

} // namespace quern
