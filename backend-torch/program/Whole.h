// A library declaration that a graph launches as it is.
#pragma once

#include "backend-torch/program/Program.h"

namespace quern {

GroupKernel wholeKernel(const FusionPlan &plan, const Group &group);

/// Elements between the first one of a value's memory and its own first one.
Size offsetInBase(const FusionPlan &plan, ValueId value);

} // namespace quern
