// The tiles of a product in shared memory: a stage has one of each factor.
#pragma once

#include "dsl/gpu/EntryPlan.h"

#include <cstdint>

namespace quern::stages {

inline constexpr std::int64_t tileRows = 128, tileDepth = 32;
/// Sixteen bytes: what one copy takes.
inline constexpr std::int64_t chunk = 8, chunkBytes = 16;
/// What the left factor's tile takes; the right one's lies behind it.
inline constexpr std::int64_t leftBytes = 2 * tileRows * tileDepth;

inline std::int64_t columnsOf(const EntryPlan &plan) {
  return plan.isLarge ? 2 * tileRows : tileRows;
}
/// Rows of the left tile, columns of the right one.
inline std::int64_t linesOf(const EntryPlan &plan, bool isRight) {
  return isRight ? columnsOf(plan) : tileRows;
}
inline std::int64_t stageBytes(const EntryPlan &plan) {
  return leftBytes + 2 * columnsOf(plan) * tileDepth;
}
/// Copies run so many steps ahead, less one.
inline std::int64_t stagesOf(const EntryPlan &plan) {
  return plan.isLarge ? 4 : 3;
}
/// Chunks of a factor's tile that each thread copies.
inline std::int64_t chunksOf(const EntryPlan &plan, bool isRight) {
  return linesOf(plan, isRight) * tileDepth / chunk / plan.threads;
}

} // namespace quern::stages
