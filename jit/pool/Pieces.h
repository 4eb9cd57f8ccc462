// A job that ends early: after an error, or when its user says so.
#pragma once

#include "jit/pool/Pool.h"

#include <chrono>

namespace quern {
class CodeWaiter;
}

namespace quern::jit {

/// Runs a pool's task in pieces of some 30 milliseconds, and none after `site`
/// became other than 0 or the user has ended the call. The thread that made
/// this is the one that asks for the user.
class Pieces {
public:
  /// The first piece has `least` units; with all of them nothing is cut. The
  /// waiter may be null.
  Pieces(Pool::Task task, const void *context, std::int64_t least,
         std::int64_t &site, CodeWaiter *waiter);

  /// A pool's task and its beat, whose context is a `Pieces`.
  static void run(const void *job, std::int64_t begin, std::int64_t end,
                  std::int64_t worker);
  static void beat(const void *job);

  bool isEnded() const { return ended.load(std::memory_order_relaxed); }

private:
  using Clock = std::chrono::steady_clock;
  void runPieces(std::int64_t begin, std::int64_t end, std::int64_t worker);
  void resize(std::int64_t units, Clock::duration spent);
  void ask();
  bool goesOn() const;

  const Pool::Task task;
  const void *const context;
  std::int64_t &site;
  CodeWaiter *const waiter;
  std::atomic<std::int64_t> size;
  std::atomic<bool> ended{false};
};

} // namespace quern::jit
