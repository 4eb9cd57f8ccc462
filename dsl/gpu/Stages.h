// The tiles of a product in shared memory: a stage has one of each factor.
#pragma once

#include "dsl/schedule/EntryPlan.h"

#include <cstdint>

namespace quern::stages {

/// A tile has so many lines along the depth.
inline constexpr std::int64_t tileRows = 128;
/// What one copy takes.
inline constexpr std::int64_t chunkBytes = 16;

/// What the left factor's tile takes; the right one's lies behind it.
inline std::int64_t leftBytes(const EntryPlan &plan) {
  return tileRows * plan.lineBytes;
}
inline std::int64_t elementBytes(const EntryPlan &plan) {
  return plan.product->elementBytes();
}
/// Elements of a chunk, and of a line along the depth.
inline std::int64_t perChunk(const EntryPlan &plan) {
  return chunkBytes / elementBytes(plan);
}
inline std::int64_t depthOf(const EntryPlan &plan) {
  return plan.lineBytes / elementBytes(plan);
}
inline std::int64_t columnsOf(const EntryPlan &plan) {
  return plan.isLarge ? 2 * tileRows : tileRows;
}
/// Rows of the left tile, columns of the right one.
inline std::int64_t linesOf(const EntryPlan &plan, bool isRight) {
  return isRight ? columnsOf(plan) : tileRows;
}
inline std::int64_t stageBytes(const EntryPlan &plan) {
  return (tileRows + columnsOf(plan)) * plan.lineBytes;
}
/// Chunks of a factor's tile that each thread copies.
inline std::int64_t chunksOf(const EntryPlan &plan, bool isRight) {
  return linesOf(plan, isRight) * plan.lineBytes / chunkBytes / plan.threads;
}

} // namespace quern::stages
