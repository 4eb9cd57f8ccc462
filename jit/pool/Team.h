// The threads of a pool and the job they share.
#pragma once

#include "jit/pool/FloatMode.h"
#include "jit/pool/Futex.h"
#include "jit/pool/Places.h"
#include "jit/pool/Pool.h"
#include "jit/pool/Shares.h"

#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace quern::jit {

/// Marks the calling thread as inside a job: jobs it starts run serially.
struct InsideJob {
  inline static thread_local bool now = false;
  bool before = now;
  InsideJob() { now = true; }
  ~InsideJob() { now = before; }
};

// What one thread writes lies apart from what another reads.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
class Pool::Team {
public:
  Team() : process(getpid()) {}
  ~Team() { stop(); }

  /// The process that made the threads; a forked child has none of them.
  const pid_t process;
  std::mutex owner; ///< held by the thread whose job runs

  /// The functions below are for the thread that holds `owner`.
  int members() const { return size; }
  /// Stops the workers and starts `threads` - 1 new ones.
  void start(int threads);
  void stop();
  void run(Task task, const void *context, std::int64_t units,
           std::int64_t grain, Beat beat);

private:
  /// Chunks still to take in one member's share of the job. Generation, next
  /// and end stand in one word, so that a late worker can never take a chunk
  /// of a job other than the one it read.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> word{0};
  };
  static constexpr unsigned chunkBits = 12;
  static constexpr std::uint64_t chunkMask = (1u << chunkBits) - 1;

  struct alignas(64) Member {
    Team *team = nullptr;
    int number = 0;
    std::uint32_t seen = 0; ///< the signal before the thread was made
    pthread_t thread{};
    std::atomic<bool> hasChunk{false};
  };
  static void *entry(void *start);
  void work(int member, std::uint32_t seen);
  /// Takes and runs chunks, first of `member`'s own share and then of the
  /// others', until none is left; whether there was one.
  bool drain(int member);
  bool takeFrom(int owner, int member);
  bool awaitJob(std::uint32_t &seen);
  void publish(std::int64_t chunks);
  void awaitTaken(std::int64_t chunks, Beat beat);
  bool spinUntil(std::uint32_t all, int spins);
  void freeStuck(std::uint32_t all);

  // Written by the owner before a generation is published.
  std::atomic<Task> task{nullptr};
  std::atomic<const void *> context{nullptr};
  std::atomic<std::int64_t> units{0}, chunk{1};
  /// The caller's: its own share of the units is computed in it.
  std::atomic<FloatMode> mode{FloatMode::current()};
  std::uint64_t generation = 0;

  int size = 0; ///< the caller counted; changes only while no worker lives
  std::unique_ptr<Share[]> shares;
  alignas(64) std::atomic<std::uint32_t> finished{0};
  std::atomic<std::uint32_t> callerSleeps{0};
  alignas(64) std::atomic<std::uint32_t> signal{0};
  std::atomic<std::uint32_t> sleeping{0};
  std::atomic<bool> stopping{false};
  std::unique_ptr<Member[]> seats; ///< by member, the caller's first
  std::vector<pthread_t> workers;
  /// Of `freeStuck`; has room for all members, since a job that runs cannot be
  /// left where memory ends.
  std::vector<std::pair<const Member *, timespec>> late;
  Places places;
};

} // namespace quern::jit
