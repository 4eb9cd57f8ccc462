// The variants of a kernel: which code a call needs, by name.
#pragma once

#include "dsl/KernelAbi.h"

#include <span>

namespace quern::jit {

/// Whether calls of a kernel need different code.
bool hasVariants(const KernelAbi &abi);

/// Whether a launch runs for a call with this packet.
bool runs(const LaunchEntry &launch, std::span<const std::uint64_t> packet);

/// A name that tells the variants of a kernel apart; never empty.
std::string nameOf(const Variant &variant);

/// What chooses among the variants, and nothing else.
KernelAbi conditionsOf(KernelAbi abi);

} // namespace quern::jit
