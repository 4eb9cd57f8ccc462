// A job in pieces runs every unit once, unless it ends early.
#include "jit/pool/Pieces.h"

#include "jit/Jit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using quern::jit::Pieces;
using quern::jit::Pool;

namespace {

struct Count {
  std::vector<std::atomic<int>> units;
  std::atomic<std::int64_t> done{0}, calls{0};
  std::int64_t bad = -1, site = 0;
  explicit Count(std::int64_t kept) : units(kept) {}

  static void task(const void *context, std::int64_t begin, std::int64_t end,
                   std::int64_t) {
    auto &count = *static_cast<Count *>(const_cast<void *>(context));
    count.calls.fetch_add(1);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      count.units[unit % count.units.size()].fetch_add(1);
      if (unit == count.bad)
        std::atomic_ref(count.site).store(1);
      count.done.fetch_add(1);
    }
  }
};

struct Waiter : quern::CodeWaiter {
  int asked = 0;
  bool goesOn() override { return ++asked < 3; }
};

// So many that they take minutes.
constexpr std::int64_t many = std::int64_t(1) << 34;

void run(std::int64_t units, int threads, Pieces &pieces) {
  Pool pool(threads);
  pool.run(Pieces::run, &pieces, units, 1, threads, Pieces::beat);
}

TEST(Pieces, RunsEveryUnitOnce) {
  for (int threads : {1, 3})
    for (std::int64_t least : {1, 7, 5000}) {
      Count count(3000);
      Pieces pieces(Count::task, &count, least, count.site, nullptr);
      run(3000, threads, pieces);
      EXPECT_TRUE(std::ranges::all_of(
          count.units, [](auto &unit) { return unit.load() == 1; }));
    }
}

TEST(Pieces, CutsNothingBelowTheFirstPiece) {
  Count count(3000);
  Pieces pieces(Count::task, &count, 3000, count.site, nullptr);
  run(3000, 1, pieces);
  EXPECT_EQ(count.calls.load(), 1);
}

TEST(Pieces, EndAfterAnError) {
  for (int threads : {1, 3}) {
    Count count(8);
    count.bad = 5;
    Pieces pieces(Count::task, &count, 16, count.site, nullptr);
    run(many, threads, pieces);
    EXPECT_LT(count.done.load(), many / 16);
    EXPECT_FALSE(pieces.isEnded());
  }
}

TEST(Pieces, EndWhenTheUserSaysSo) {
  for (int threads : {1, 3}) {
    Count count(8);
    Waiter waiter;
    Pieces pieces(Count::task, &count, 16, count.site, &waiter);
    run(many, threads, pieces);
    EXPECT_LT(count.done.load(), many / 2);
    EXPECT_EQ(waiter.asked, 3);
    EXPECT_TRUE(pieces.isEnded());
  }
}

} // namespace
