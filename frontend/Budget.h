// What a piece of work may cost, and whether anybody still waits for it.
#pragma once

#include <cstdint>
#include <stop_token>

namespace quern {

/// Counts what one piece of work makes. The work asks as it goes on, and ends
/// soon after the limit is passed or the one who waits for it has left. One
/// thread spends; any thread may ask for the stop.
class Budget {
public:
  explicit Budget(std::uint64_t limit, std::stop_token stop = {})
      : most(limit), stop(std::move(stop)) {}

  /// False where the work is to end.
  bool spend(std::uint64_t count) {
    used += count;
    return goesOn();
  }
  bool goesOn() const { return !isExceeded() && !isStopped(); }
  bool isExceeded() const { return used > most; }
  bool isStopped() const { return stop.stop_requested(); }
  std::uint64_t count() const { return used; }
  std::uint64_t limit() const { return most; }

private:
  std::uint64_t used = 0;
  std::uint64_t most;
  std::stop_token stop;
};

/// What one text may cost.
struct TextLimits {
  std::uint64_t tokens = 1'000'000;
  /// Of making its constants: expressions evaluated and values stored.
  std::uint64_t steps = 4'000'000;
};

} // namespace quern
