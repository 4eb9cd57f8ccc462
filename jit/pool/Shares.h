// How the members of a job divide a share of its chunks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace quern::jit {

/// Chunks that a share is cut into: so many that what moves from core to core,
/// where one member helps out another, is a small part of the job.
constexpr std::int64_t chunksOfShare = 32;

/// What one member takes of a share's chunks, from `next` to `end` before, and
/// what it leaves.
struct Taken {
  std::int64_t first, count;
  std::int64_t next, end;
};

/// The owner goes from the front, others from the back: the data of a call on
/// the same operands lies in the cache of the core that had it before, and
/// another core reads it no faster than memory. Half of what is left, but no
/// more than a quarter of the whole for the owner, who may lose its processor.
inline Taken take(std::int64_t next, std::int64_t end, std::int64_t whole,
                  bool isOwner) {
  std::int64_t half = std::max<std::int64_t>(1, (end - next) / 2);
  if (!isOwner)
    return {end - half, half, next, end - half};
  std::int64_t most = std::max<std::int64_t>(1, whole / 4);
  std::int64_t count = std::min(half, most);
  return {next, count, next + count, end};
}

} // namespace quern::jit
