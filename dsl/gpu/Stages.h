// The tiles of a product in shared memory.
#pragma once

#include <cstdint>

namespace quern::stages {

inline constexpr std::int64_t tileRows = 128, tileDepth = 32;
/// Sixteen bytes: what one copy takes.
inline constexpr std::int64_t chunk = 8, chunkBytes = 16;
inline constexpr std::int64_t sideBytes = 2 * tileRows * tileDepth;
inline constexpr std::int64_t stageBytes = 2 * sideBytes;

/// Chunks of a factor's tile that each of so many threads copies.
constexpr std::int64_t chunksOf(std::int64_t threads) {
  return tileRows * tileDepth / chunk / threads;
}

} // namespace quern::stages
