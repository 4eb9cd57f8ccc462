// Steps that call operators: in a plan, and in the place of a kernel.
#pragma once

#include "backend-torch/plan/LaunchPlan.h"

namespace quern {

/// The call of one node. Throws what libtorch throws where an operator is not
/// known to the dispatcher.
Step makeCall(const FusionPlan &fusion, int node);

/// What a group's kernel would do, node by node, with the views in between.
/// Reads what the kernel reads; frees nothing.
std::vector<Step> callsOf(const FusionPlan &fusion, const Group &group);

} // namespace quern
