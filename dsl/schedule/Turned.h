// Squares of operands that have their neighbours across the lanes.
#pragma once

#include "dsl/cost/Parameters.h"

#include <algorithm>

namespace quern {

/// The side of a square whose results are vectors of so many lanes. Small
/// elements have several squares side by side, whose rows are what instructions
/// interleave.
inline unsigned squareSide(unsigned lanes, unsigned vectorBytes) {
  unsigned bytes = std::max(1u, vectorBytes / lanes);
  return bytes < 4 ? cost::squareBytes / bytes
                   : std::min<unsigned>(lanes, cost::squareLanes);
}

} // namespace quern
