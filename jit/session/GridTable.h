// What the calls of a listed launch are told: a row for each, and the map of
// blocks (docs/decisions/0020).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern::jit {

/// Blocks that a call has work for, and that a device holds at once.
struct BlockNeed {
  std::int64_t wanted = 0, most = 0;
};

/// The calls of one launch.
struct GridTable {
  /// Rows, then the map.
  std::vector<std::uint64_t> words;
  std::uint64_t mapBytes = 0; ///< from the beginning to the map
  std::uint64_t lastMapped = 0;
  unsigned blocks = 0;

  bool fitsParameter() const;
  /// Shares the device's blocks among calls whose packets lie one behind the
  /// other.
  GridTable(std::span<const std::uint64_t> packets,
            std::span<const BlockNeed> needs);
};

/// How many of the calls, the first ones, have a table that fits a parameter.
/// One always does, if its packet does.
std::size_t callsInParameter(std::span<const BlockNeed> needs,
                             std::size_t packetWords);

} // namespace quern::jit
