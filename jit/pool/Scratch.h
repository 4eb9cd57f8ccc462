// Memory for the length of a run, kept mapped between runs.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace quern::jit {

/// Fresh pages cost several times what it takes to write them, and the system's
/// allocator gives large pieces back when they are freed. Thread-safe.
class Scratch {
public:
  /// Keeps no more than `most` bytes; what came back first goes first.
  explicit Scratch(std::size_t most = shareOfMemory()) : most(most) {}
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// A piece that goes back when it is destroyed; null where there is no memory
  /// or none was asked for.
  class Piece {
  public:
    Piece(Scratch &owner, std::size_t bytes);
    ~Piece();
    Piece(const Piece &) = delete;
    Piece &operator=(const Piece &) = delete;

    char *memory = nullptr;

  private:
    Scratch &owner;
    std::size_t size = 0;
  };

  /// Around a fork nobody takes or gives.
  void beforeFork() { mutex.lock(); }
  void afterFork() { mutex.unlock(); }

  /// Bytes that are kept and not in use.
  std::size_t kept() const;

  /// Smaller pieces are left to the system's allocator, which keeps them.
  static constexpr std::size_t least = 64 << 10;
  /// What is kept beyond is the system's wherever memory gets short.
  static constexpr std::size_t held = 64 << 20;

private:
  struct Block {
    char *memory;
    std::size_t size;
  };

  static std::size_t shareOfMemory();
  Block take(std::size_t bytes);
  void give(Block block);

  const std::size_t most;
  mutable std::mutex mutex;
  std::vector<Block> blocks; ///< in the order in which they came back
};

} // namespace quern::jit
