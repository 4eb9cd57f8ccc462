// Computes how an explicit kernel is launched, from the words of its packet.
#pragma once

#include "dsl/KernelAbi.h"

#include <span>

namespace quern::jit {

/// Blocks of the grid and threads of a block along x, y, z.
struct GridShape {
  std::array<std::int64_t, 3> blocks, threads;
};

GridShape evaluate(const GridGeometry &geometry,
                   std::span<const std::uint64_t> words);

} // namespace quern::jit
