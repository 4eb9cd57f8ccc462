// Squares of operands that have their neighbours across the lanes.
#pragma once

#include <algorithm>
#include <optional>

namespace quern {

struct LaunchPlan;

/// A body of more operations is not worth as many copies as lanes.
constexpr unsigned longestTurned = 12;

/// The side of a square whose results are vectors of so many lanes. Wider ones
/// than 16 grow the code by their area. Small elements have several squares
/// side by side, whose rows are what instructions interleave.
inline unsigned squareSide(unsigned lanes, unsigned vectorBytes) {
  constexpr unsigned widest = 16, segment = 16;
  unsigned bytes = std::max(1u, vectorBytes / lanes);
  return bytes < 4 ? segment / bytes : std::min(lanes, widest);
}

/// What runs instead of squares where the lines of the results are shorter;
/// nothing where the launch has none.
std::optional<LaunchPlan> narrowLines(const LaunchPlan &launch);

} // namespace quern
