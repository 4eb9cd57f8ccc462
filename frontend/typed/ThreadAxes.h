// The threads of a block or a warp, as `kernel` text reduces over them.
#pragma once

#include "frontend/typed/Axis.h"

namespace quern::typed {

/// Rows of no axis table: `sum(x over block)`, `scan(sum, x over warp)`,
/// `max(x over row)`, of the lanes that share a row of a tile.
inline constexpr AxisId blockThreads{0xfffe}, warpThreads{0xfffd},
    rowThreads{0xfffc};

inline bool isThreads(AxisId axis) {
  return axis == blockThreads || axis == warpThreads || axis == rowThreads;
}

} // namespace quern::typed
