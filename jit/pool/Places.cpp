// Affinities and time slices of workers (Linux).
#include "jit/pool/Places.h"

#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace quern::jit {

namespace {

/// The system's `struct sched_attr`, whose header clashes with `sched.h`.
struct SchedulerWish {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};

/// The shortest slice there is, in nanoseconds.
constexpr std::uint64_t shortestSlice = 100'000;

} // namespace

void wishForShortSlices() {
  SchedulerWish wish{};
  wish.size = sizeof wish;
  if (syscall(SYS_sched_getattr, 0, &wish, sizeof wish, 0) != 0 ||
      wish.policy != SCHED_OTHER)
    return;
  wish.runtime = shortestSlice;
  syscall(SYS_sched_setattr, 0, &wish, 0);
}

timespec spentBy(pthread_t thread) {
  timespec spent{};
  clockid_t clock;
  if (pthread_getcpuclockid(thread, &clock) == 0)
    clock_gettime(clock, &spent);
  return spent;
}

void Places::moveAway(std::span<const pthread_t> workers, int here) {
  cpu_set_t now;
  if (here < 0 || workers.empty() ||
      pthread_getaffinity_np(workers.front(), sizeof now, &now) != 0)
    return;
  // The host may have set other processors since.
  if (!known || (!CPU_EQUAL(&now, &given) && !CPU_EQUAL(&now, &brought)))
    allowed = now;
  known = true;
  given = allowed;
  CPU_CLR(here, &given);
  if (CPU_COUNT(&given) == 0)
    given = allowed;
  for (pthread_t worker : workers)
    pthread_setaffinity_np(worker, sizeof given, &given);
  avoided = here;
}

void Places::bringHere(pthread_t worker) {
  int here = sched_getcpu();
  if (!known || here < 0 || !CPU_ISSET(here, &allowed))
    return;
  CPU_ZERO(&brought);
  CPU_SET(here, &brought);
  if (pthread_setaffinity_np(worker, sizeof brought, &brought) == 0)
    avoided = -1;
}

} // namespace quern::jit
