// Squares of operands that have their neighbours across the lanes.
#pragma once

#include "dsl/cost/Parameters.h"

#include <algorithm>
#include <optional>

namespace quern {

struct LaunchPlan;

/// The side of a square whose results are vectors of so many lanes. Small
/// elements have several squares side by side, whose rows are what instructions
/// interleave.
inline unsigned squareSide(unsigned lanes, unsigned vectorBytes) {
  unsigned bytes = std::max(1u, vectorBytes / lanes);
  return bytes < 4 ? cost::squareBytes / bytes
                   : std::min<unsigned>(lanes, cost::squareLanes);
}

/// What runs instead of squares where the lines of the results are shorter;
/// nothing where the launch has none.
std::optional<LaunchPlan> narrowLines(const LaunchPlan &launch);

} // namespace quern
