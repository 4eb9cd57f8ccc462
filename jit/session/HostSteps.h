// Computes how a kernel is launched, from the words of its packet.
#pragma once

#include "dsl/KernelAbi.h"

#include <span>

namespace quern::jit {

/// The results of the steps; a step has a value for all operands.
std::vector<std::int64_t> evaluate(const HostPlan &plan,
                                   std::span<const std::uint64_t> words);

} // namespace quern::jit
