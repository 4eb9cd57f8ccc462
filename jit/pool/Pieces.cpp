// Cuts chunks into pieces by the time that the last ones took.
#include "jit/pool/Pieces.h"

#include "jit/Jit.h"

#include <algorithm>

namespace quern::jit {

namespace {
// How long a piece takes, within a factor of two: long beside what the units
// of a task have in common (packed operands, rows ahead), short for whoever
// waits for the end.
constexpr std::chrono::milliseconds pieceTime(20);
} // namespace

Pieces::Pieces(Pool::Task task, const void *context, std::int64_t least,
               std::int64_t &site, CodeWaiter *waiter)
    : task(task), context(context), site(site),
      waiter(Pool::insideJob() ? nullptr : waiter),
      size(std::max<std::int64_t>(least, 1)) {}

bool Pieces::goesOn() const {
  return std::atomic_ref(site).load(std::memory_order_relaxed) == 0 &&
         !isEnded();
}

void Pieces::run(const void *job, std::int64_t begin, std::int64_t end,
                 std::int64_t worker) {
  auto &self = *static_cast<Pieces *>(const_cast<void *>(job));
  if (end - begin > self.size.load(std::memory_order_relaxed))
    return self.runPieces(begin, end, worker);
  // Whoever has a first chunk has just come.
  if (worker == 0 && begin != 0)
    self.ask();
  if (self.goesOn())
    self.task(self.context, begin, end, worker);
}

void Pieces::runPieces(std::int64_t begin, std::int64_t end,
                       std::int64_t worker) {
  Clock::time_point before = Clock::now();
  while (begin < end && goesOn()) {
    std::int64_t units = std::min(end - begin, size.load());
    task(context, begin, begin + units, worker);
    begin += units;
    Clock::time_point now = Clock::now();
    resize(units, now - before);
    before = now;
    if (worker == 0)
      ask();
  }
}

void Pieces::resize(std::int64_t units, Clock::duration spent) {
  if (spent < pieceTime)
    size.store(std::max(size.load(), units * 2));
  else if (spent > 2 * pieceTime)
    size.store(std::max<std::int64_t>(units / 2, 1));
}

void Pieces::beat(const void *job) {
  static_cast<Pieces *>(const_cast<void *>(job))->ask();
}

void Pieces::ask() {
  if (waiter && !isEnded() && !waiter->goesOn())
    ended.store(true, std::memory_order_relaxed);
}

} // namespace quern::jit
