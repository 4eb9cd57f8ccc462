// Which thread runs a job: the caller alone, or with the team.
#include "jit/pool/Pool.h"

#include "jit/pool/HostJob.h"
#include "jit/pool/Quota.h"
#include "jit/pool/Team.h"

#include <algorithm>
#include <sched.h>

namespace quern::jit {

int Pool::processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int count = std::max(1, CPU_COUNT(&set)), quota = processorQuota();
  return quota > 0 ? std::min(count, quota) : count;
}

bool Pool::insideJob() { return InsideJob::now; }

Pool::Pool(int threads, Host host, Count count)
    : host(host), count(count), wanted(threads) {}

Pool::~Pool() {
  Team *mine = current.load();
  // A forked child must not join threads that stayed in its parent.
  if (mine && mine->process == getpid())
    delete mine;
}

/// The team, made when first needed and again after a fork: the child's
/// copy has no threads, and its lock may be held by one that does not exist.
Pool::Team *Pool::team() {
  Team *mine = current.load(std::memory_order_acquire);
  if (mine && mine->process == getpid())
    return mine;
  Team *fresh = new Team;
  if (current.compare_exchange_strong(mine, fresh))
    return fresh;
  delete fresh;
  return mine;
}

void Pool::run(Task task, const void *context, std::int64_t units,
               std::int64_t grain, int most, Beat beat) {
  if (units <= 0)
    return;
  int size = std::min(threads(), most);
  bool isShared =
      units > std::max<std::int64_t>(grain, 1) && size > 1 && !insideJob();
  if (isShared && host &&
      HostJob(task, context, units, grain, size).run(host)) {
    shared.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (isShared) {
    Team *mine = team();
    std::unique_lock lock(mine->owner, std::try_to_lock);
    if (lock) {
      if (mine->members() != size)
        mine->start(size);
      InsideJob guard;
      shared.fetch_add(1, std::memory_order_relaxed);
      return mine->run(task, context, units, std::max<std::int64_t>(grain, 1),
                       beat);
    }
  }
  InsideJob guard;
  task(context, 0, units, 0);
}

} // namespace quern::jit
