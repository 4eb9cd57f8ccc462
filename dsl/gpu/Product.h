// A sum of products that is made in tiles, by matrix instructions or by lanes.
#pragma once

#include "dsl/schedule/EntryPlan.h"

namespace quern {

/// The product all stores of a launch are made of, if it is one.
std::optional<MatrixProduct> findProduct(const KernelModel &model,
                                         const LaunchPlan &launch,
                                         const TargetInfo &target);

} // namespace quern
