// How the members of a team find, take and finish chunks.
#include "jit/pool/Team.h"

#include <algorithm>
#include <csignal>

namespace quern::jit {

namespace {
// How long a thread looks for work, or for the last chunk, before it sleeps. A
// worker that spins on a processor which others want is descheduled sooner
// when it has work, so the spin is no longer than a wake-up takes.
constexpr int workerSpins = 400;
constexpr int callerSpins = 2000;
// How long one that runs may be seen to spend no time.
constexpr int stuckSpins = 1000;
} // namespace

void Pool::Team::start(int threads) {
  stop();
  // Where there is no memory for them the team has no members.
  size = 0;
  late.reserve(threads);
  workers.reserve(threads);
  shares = std::make_unique<Share[]>(threads);
  seats = std::make_unique<Member[]>(threads);
  stopping.store(false);
  size = threads;
  places.start();
  // Signals are for the host's threads: workers start with all blocked.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int member = 1; member < threads; ++member) {
    Member &fresh = seats[member];
    fresh.team = this;
    fresh.number = member;
    fresh.seen = signal.load();
    // Without a thread its share is run by the others.
    if (pthread_create(&fresh.thread, nullptr, entry, &fresh) != 0)
      continue;
    // From here, so that it has its name before it first runs.
    pthread_setname_np(fresh.thread, "quern");
    workers.push_back(fresh.thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Pool::Team::stop() {
  stopping.store(true);
  signal.fetch_add(1);
  futexWake(signal, INT_MAX);
  for (pthread_t worker : workers)
    pthread_join(worker, nullptr);
  workers.clear();
}

void *Pool::Team::entry(void *start) {
  auto *member = static_cast<Member *>(start);
  wishForShortSlices();
  member->team->work(member->number, member->seen);
  return nullptr;
}

void Pool::Team::work(int member, std::uint32_t seen) {
  InsideJob guard;
  do
    drain(member);
  while (awaitJob(seen));
}

void Pool::Team::run(Task newTask, const void *newContext,
                     std::int64_t newUnits, std::int64_t grain, Beat beat) {
  std::int64_t most = chunksOfShare * size;
  std::int64_t step = std::max(grain, (newUnits + most - 1) / most);
  std::int64_t chunks = (newUnits + step - 1) / step;
  task.store(newTask, std::memory_order_relaxed);
  context.store(newContext, std::memory_order_relaxed);
  units.store(newUnits, std::memory_order_relaxed);
  chunk.store(step, std::memory_order_relaxed);
  mode.store(FloatMode::current(), std::memory_order_relaxed);
  finished.store(0, std::memory_order_relaxed);
  publish(chunks);
  drain(0);
  awaitTaken(chunks, beat);
}

/// Gives every member a share of the chunks, neighbours together: a call on
/// the same data finds it in the same core's cache.
void Pool::Team::publish(std::int64_t chunks) {
  ++generation;
  for (int member = 0; member < size; ++member) {
    std::uint64_t begin = chunks * member / size;
    std::uint64_t end = chunks * (member + 1) / size;
    // The share's own count starts at 0; its first chunk follows from the
    // member's number and the count of chunks, which takeFrom knows.
    shares[member].word.store(generation << (2 * chunkBits) | (end - begin),
                              std::memory_order_release);
  }
  places.keepAway(workers);
  signal.fetch_add(1);
  std::uint32_t asleep = sleeping.load();
  if (asleep)
    futexWake(signal, std::min<std::int64_t>(asleep, chunks - 1));
}

bool Pool::Team::takeFrom(int owner, int member) {
  Share &share = shares[owner];
  std::uint64_t word = share.word.load(std::memory_order_acquire);
  for (;;) {
    auto next = static_cast<std::int64_t>(word >> chunkBits & chunkMask);
    auto end = static_cast<std::int64_t>(word & chunkMask);
    if (next >= end)
      return false;
    Task run = task.load(std::memory_order_relaxed);
    const void *data = context.load(std::memory_order_relaxed);
    std::int64_t total = units.load(std::memory_order_relaxed);
    std::int64_t step = chunk.load(std::memory_order_relaxed);
    FloatMode wanted = mode.load(std::memory_order_relaxed);
    std::int64_t chunks = (total + step - 1) / step;
    std::int64_t first = chunks * owner / size;
    std::int64_t whole = chunks * (owner + 1) / size - first;
    Taken taken = take(next, end, whole, owner == member);
    auto left = static_cast<std::uint64_t>(taken.next << chunkBits | taken.end);
    // Success proves that the five loads above belong to this generation: its
    // owner cannot finish, and write new ones, before these chunks are done.
    if (!share.word.compare_exchange_weak(
            word, word >> (2 * chunkBits) << (2 * chunkBits) | left,
            std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    std::int64_t begin = (first + taken.first) * step;
    std::int64_t last = begin + taken.count * step;
    std::atomic<bool> &hasChunk = seats[member].hasChunk;
    hasChunk.store(true, std::memory_order_relaxed);
    wanted.set();
    run(data, begin, std::min(last, total), member);
    hasChunk.store(false, std::memory_order_relaxed);
    finished.fetch_add(static_cast<std::uint32_t>(taken.count));
    if (callerSleeps.load())
      futexWake(finished, 1);
    return true;
  }
}

bool Pool::Team::drain(int member) {
  bool any = false;
  for (int offset = 0; offset < size; ++offset)
    while (takeFrom((member + offset) % size, member))
      any = true;
  return any;
}

bool Pool::Team::spinUntil(std::uint32_t all, int spins) {
  for (int spin = 0; spin < spins; ++spin) {
    if (finished.load(std::memory_order_acquire) == all)
      return true;
    relax();
  }
  return false;
}

/// A worker that has a chunk and no processor, because another process took
/// it, would hold up the job for a whole slice of time: it gets the caller's.
void Pool::Team::freeStuck(std::uint32_t all) {
  late.clear();
  for (int number = 1; number < size; ++number)
    if (seats[number].hasChunk.load(std::memory_order_relaxed))
      late.push_back({&seats[number], spentBy(seats[number].thread)});
  if (spinUntil(all, stuckSpins))
    return;
  for (auto [member, then] : late) {
    timespec now = spentBy(member->thread);
    if (member->hasChunk.load(std::memory_order_relaxed) &&
        now.tv_nsec == then.tv_nsec && now.tv_sec == then.tv_sec)
      places.bringHere(member->thread);
  }
}

/// Waits for the chunks that workers have taken and not finished.
void Pool::Team::awaitTaken(std::int64_t chunks, Beat beat) {
  std::uint32_t all = static_cast<std::uint32_t>(chunks);
  if (spinUntil(all, callerSpins))
    return;
  constexpr timespec again{.tv_sec = 0, .tv_nsec = 1'000'000};
  callerSleeps.store(1);
  for (;;) {
    freeStuck(all);
    std::uint32_t now = finished.load();
    if (now == all)
      break;
    futexWait(finished, now, &again);
    if (beat)
      beat(context.load(std::memory_order_relaxed));
  }
  callerSleeps.store(0);
}

/// Waits for a signal other than `seen`; false when the team ends.
bool Pool::Team::awaitJob(std::uint32_t &seen) {
  for (int spin = 0; spin < workerSpins; ++spin) {
    if (signal.load(std::memory_order_acquire) != seen)
      break;
    relax();
  }
  while (signal.load() == seen) {
    sleeping.fetch_add(1);
    futexWait(signal, seen);
    sleeping.fetch_sub(1);
  }
  seen = signal.load();
  return !stopping.load();
}

} // namespace quern::jit
