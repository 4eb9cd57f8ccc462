// Memory for large tensors that stays mapped between the calls of graphs.
#pragma once

#include "backend-torch/compiled/BriefMutex.h"

#include <c10/core/Allocator.h>
#include <c10/util/ArrayRef.h>

#include <atomic>
#include <map>
#include <memory>

namespace at {
class Tensor;
}

namespace quern {

/// What a memory holds, in bytes.
struct MemoryUsage {
  std::int64_t inUse = 0;  ///< by tensors that live
  std::int64_t peak = 0;   ///< the most there ever was
  std::int64_t mapped = 0; ///< what may take the system's, in use or not
};

/// Pieces of a few segments so large that most programs need one: only what is
/// written takes memory. A fresh page costs several times what it takes to
/// write it, so a freed piece is given out again, the one that fits best first;
/// what many calls did not need, whole segments or their ends, goes back to the
/// system. Thread-safe. Tensors keep the memory they lie in alive.
class Memory : public std::enable_shared_from_this<Memory> {
public:
  ~Memory();

  /// Smaller pieces are left to the allocator of torch.
  static constexpr std::size_t Least = 128 << 10;

  c10::DataPtr allocate(std::size_t bytes);
  /// Whether a tensor lies in such memory and nobody else knows of it.
  static bool isAlone(const at::Tensor &tensor);
  MemoryUsage usage() const;
  /// Told at the end of every call of a graph.
  void endCall();
  /// Gives back every segment that nothing lies in, and ends of others.
  void trim();

private:
  using Free = std::map<char *, std::size_t>; ///< sizes by address
  struct Segment {
    std::size_t size = 0, used = 0;
    std::int64_t lastUse = 0; ///< the call
    char *top = nullptr;      ///< the end of what was given out of late
    char *touched = nullptr;  ///< the end of what may take memory
    Free free = {};
  };
  struct Lease;

  char *take(std::size_t size);
  void giveBack(Free::node_type piece);
  char *takeFrom(Segment &segment, Free::iterator found, std::size_t size);
  void tellProfiler(void *start, std::int64_t bytes) const;
  void unmapUnused(std::int64_t before);
  void giveBackEnds();
  void touch(Segment &segment, char *end);

  mutable BriefMutex mutex;
  std::map<char *, Segment> segments; ///< by address
  std::atomic<std::int64_t> call = 0;
  MemoryUsage now;
};

/// What a tensor takes.
std::size_t storageBytes(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         c10::ScalarType type);

/// An uninitialized tensor of so many bytes, in such memory if it is large.
at::Tensor emptyTensor(Memory &memory, c10::IntArrayRef sizes,
                       c10::IntArrayRef strides, c10::ScalarType type,
                       std::size_t bytes);

/// A tensor in memory that is there.
at::Tensor tensorIn(c10::Storage storage, c10::IntArrayRef sizes,
                    c10::IntArrayRef strides, c10::ScalarType type);

} // namespace quern
