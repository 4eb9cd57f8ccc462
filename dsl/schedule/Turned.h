// Squares of operands that have their neighbours across the lanes.
#pragma once

namespace quern {

/// A body of more operations is not worth as many copies as lanes.
constexpr unsigned longestTurned = 12;

} // namespace quern
