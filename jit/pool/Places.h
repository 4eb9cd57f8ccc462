// Where the threads of a team run: beside the caller, never in its place.
#pragma once

#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <span>

namespace quern::jit {

/// Asks the scheduler to let the calling thread in soon where it has slept: a
/// worker has little to do and others wait for it. Older systems have no such
/// wish, and ignore or refuse it.
void wishForShortSlices();

/// What `thread` has spent on a processor; one that is not running spends none.
timespec spentBy(pthread_t thread);

/// The processors that workers may use: those they were started with, without
/// the one the caller of the job is on. Schedulers like to wake a thread beside
/// who wakes it, and there it gets nothing to do.
class Places {
public:
  /// For workers that were just started.
  void start() { avoided = -1, known = false; }

  /// Sends workers off the processor that the calling thread is on.
  void keepAway(std::span<const pthread_t> workers) {
    if (int here = sched_getcpu(); here != avoided)
      moveAway(workers, here);
  }

  /// Brings a worker that waits for a processor to the caller's own, which is
  /// about to sleep.
  void bringHere(pthread_t worker);

private:
  void moveAway(std::span<const pthread_t> workers, int here);

  int avoided = -1;
  bool known = false;     ///< whether there are `allowed` and `given`
  cpu_set_t allowed = {}; ///< what the host lets workers use
  cpu_set_t given = {};   ///< what of it they were given last
  cpu_set_t brought = {}; ///< what one was given that was brought here
};

} // namespace quern::jit
