// Quern's own threads: chunks of independent units, the caller working too.
#pragma once

#include "jit/pool/Scratch.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

namespace quern::jit {

/// A team of threads that runs one job at a time. A job is a number of
/// independent units; whoever comes takes chunks of them. The caller takes
/// chunks as well, and at the end waits only for chunks that somebody has
/// taken: a worker that gets no processor delays nobody.
class Pool {
public:
  /// Runs units [begin, end) of the job `context`; `worker` is below threads().
  using Task = void (*)(const void *context, std::int64_t begin,
                        std::int64_t end, std::int64_t worker);

  /// Asked on the caller's thread each millisecond that it waits for workers.
  using Beat = void (*)(const void *context);

  /// Threads of the host's, as `HostTeam` says.
  using Host = bool (*)(void (*body)(void *context, int member), void *context,
                        int members);

  /// How many threads the host wants, as `HostThreads` says.
  using Count = int (*)();

  /// `threads` counts the caller; 0 means every processor this process may use;
  /// a host's `count` says it anew each time. Jobs run on threads of the `host`
  /// where these are awake.
  explicit Pool(int threads = 0, Host host = nullptr, Count count = nullptr);
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  /// What `resize` said, else the host, else every processor.
  int threads() const {
    int number = wanted.load(std::memory_order_relaxed);
    if (number <= 0 && count)
      number = count();
    return number > 0 ? number : processorsAtStart;
  }
  void resize(int threads) { wanted.store(threads); }

  /// Runs `units` units, at least `grain` at a time. Serial when one chunk is
  /// all there is, inside another job, and while another thread's job has the
  /// team: its threads would come too late to help.
  /// No more than `most` threads take part, whatever the size by then.
  void run(Task task, const void *context, std::int64_t units,
           std::int64_t grain, int most = std::numeric_limits<int>::max(),
           Beat beat = nullptr);

  /// Memory for what jobs need beside their operands.
  Scratch &scratch() { return memory; }

  /// Jobs that were offered to the workers.
  std::int64_t sharedJobs() const {
    return shared.load(std::memory_order_relaxed);
  }

  /// What the process may use: by its affinity, and by the limits of the
  /// container that it is in.
  static int processors();
  /// Whether this thread is inside a job, of any pool.
  static bool insideJob();

private:
  class Team;
  Team *team();

  const Host host;
  const Count count;
  const int processorsAtStart = processors();
  Scratch memory;

  std::atomic<Team *> current{nullptr};
  std::atomic<int> wanted;
  std::atomic<std::int64_t> shared{0};
};

} // namespace quern::jit
