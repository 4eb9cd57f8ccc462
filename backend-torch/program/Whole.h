// Kernels that are no fused text: library declarations launched as they are,
// and copies into places.
#pragma once

#include "backend-torch/program/Program.h"

namespace quern {

/// Elements of a placement's target before one of its parts.
Size offsetOfPart(const FusionPlan &plan, const Placement &placement, int part);

/// The kernel that puts one part of a placement into its place, without its
/// declaration's name.
GroupKernel placeKernel(const FusionPlan &plan, const Group &group);

GroupKernel wholeKernel(const FusionPlan &plan, const Group &group);

/// Elements between the first one of a value's memory and its own first one.
Size offsetInBase(const FusionPlan &plan, ValueId value);

} // namespace quern
