// The pool runs every unit exactly once, whoever comes and whatever happens.
#include "jit/pool/Pool.h"
#include "jit/pool/Quota.h"
#include "jit/pool/Shares.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace fs = std::filesystem;

using quern::jit::Pool;
using quern::jit::take;
using quern::jit::Taken;

namespace {

struct Marks {
  std::vector<std::atomic<int>> count;
  std::atomic<int> workersSeen{0};
  std::atomic<std::int64_t> chunks{0}, smallest{1 << 30};
  explicit Marks(std::int64_t units) : count(units) {}

  static void task(const void *context, std::int64_t begin, std::int64_t end,
                   std::int64_t worker) {
    auto &marks = *static_cast<Marks *>(const_cast<void *>(context));
    for (std::int64_t unit = begin; unit < end; ++unit)
      marks.count[unit].fetch_add(1);
    marks.workersSeen.fetch_or(1 << worker);
    marks.chunks.fetch_add(1);
    std::int64_t least = marks.smallest.load();
    while (end - begin < least &&
           !marks.smallest.compare_exchange_weak(least, end - begin))
      ;
  }
  bool eachOnce() const {
    for (const auto &unit : count)
      if (unit.load() != 1)
        return false;
    return true;
  }
};

TEST(Pool, RunsEveryUnitOnce) {
  for (int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    for (std::int64_t units : {0, 1, 2, 7, 64, 1000, 4097})
      for (std::int64_t grain : {1, 3, 64, 5000}) {
        Marks marks(units);
        pool.run(Marks::task, &marks, units, grain);
        EXPECT_TRUE(marks.eachOnce()) << threads << ' ' << units;
      }
  }
}

/// Brings fewer members than asked for, and of seven or more none.
bool threadsOfTheHost(void (*body)(void *, int), void *context, int members) {
  if (members > 6)
    return false;
  std::vector<std::jthread> others;
  for (int member = 1; member < members - members / 4; ++member)
    others.emplace_back(body, context, member);
  body(context, 0);
  return true;
}

TEST(Pool, RunsOnThreadsOfTheHost) {
  for (int threads : {2, 3, 5, 8}) {
    Pool pool(threads, threadsOfTheHost);
    for (std::int64_t units : {0, 1, 7, 64, 4097})
      for (std::int64_t grain : {1, 3, 64, 5000}) {
        Marks marks(units);
        pool.run(Marks::task, &marks, units, grain);
        EXPECT_TRUE(marks.eachOnce()) << threads << ' ' << units;
      }
  }
}

TEST(Pool, AsksTheHostForItsCount) {
  static int wanted = 1;
  Pool pool(0, nullptr, [] { return wanted; });
  EXPECT_EQ(pool.threads(), 1);
  Marks marks(64);
  pool.run(Marks::task, &marks, 64, 1);
  EXPECT_EQ(pool.sharedJobs(), 0);
  wanted = 3;
  Marks again(64);
  pool.run(Marks::task, &again, 64, 1);
  EXPECT_EQ(pool.sharedJobs(), 1);
  EXPECT_TRUE(again.eachOnce());
  wanted = 0; // knows no number
  EXPECT_EQ(pool.threads(), Pool::processors());
  wanted = 3;
  pool.resize(2);
  EXPECT_EQ(pool.threads(), 2);
  pool.resize(0);
  EXPECT_EQ(pool.threads(), 3);
}

TEST(Pool, ManyJobsInARow) {
  Pool pool(4);
  for (int job = 0; job < 20000; ++job) {
    Marks marks(1 + job % 50);
    pool.run(Marks::task, &marks, 1 + job % 50, 1 + job % 3);
    ASSERT_TRUE(marks.eachOnce()) << job;
  }
}

TEST(Pool, ChunksAreNotSmallerThanTheGrain) {
  Pool pool(4);
  Marks marks(1000);
  pool.run(Marks::task, &marks, 1000, 100);
  EXPECT_GE(marks.smallest.load(), 100);
  EXPECT_TRUE(marks.eachOnce());
}

TEST(Pool, OneChunkWakesNobody) {
  Pool pool(4);
  Marks marks(64);
  pool.run(Marks::task, &marks, 64, 64);
  EXPECT_EQ(marks.chunks.load(), 1);
  EXPECT_EQ(pool.sharedJobs(), 0);
}

TEST(Pool, NestedJobsAreSerial) {
  struct Outer {
    Pool *pool;
    Marks inner{400};
    std::atomic<int> parallel{0};
  } outer{.pool = nullptr};
  Pool pool(4);
  outer.pool = &pool;
  EXPECT_FALSE(Pool::insideJob());
  pool.run(
      [](const void *context, std::int64_t begin, std::int64_t end,
         std::int64_t) {
        auto &self = *static_cast<Outer *>(const_cast<void *>(context));
        EXPECT_TRUE(Pool::insideJob());
        for (std::int64_t unit = begin; unit < end; ++unit) {
          struct Part {
            Outer *outer;
            std::int64_t base;
            std::thread::id home;
          } part{&self, unit * 100, std::this_thread::get_id()};
          self.pool->run(
              [](const void *data, std::int64_t from, std::int64_t to,
                 std::int64_t) {
                auto &my = *static_cast<const Part *>(data);
                if (std::this_thread::get_id() != my.home)
                  my.outer->parallel.fetch_add(1);
                for (std::int64_t i = from; i < to; ++i)
                  my.outer->inner.count[my.base + i].fetch_add(1);
              },
              &part, 100, 1);
        }
      },
      &outer, 4, 1);
  EXPECT_FALSE(Pool::insideJob());
  EXPECT_TRUE(outer.inner.eachOnce());
  EXPECT_EQ(outer.parallel.load(), 0);
}

TEST(Pool, CallersOnSeveralThreads) {
  Pool pool(3);
  std::vector<std::thread> callers;
  callers.reserve(4);
  std::atomic<int> bad{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int job = 0; job < 3000; ++job) {
        Marks marks(37);
        pool.run(Marks::task, &marks, 37, 2);
        bad += !marks.eachOnce();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(bad.load(), 0);
}

TEST(Pool, ResizesBetweenJobs) {
  Pool pool(2);
  for (int size : {1, 5, 2, 8, 3}) {
    pool.resize(size);
    EXPECT_EQ(pool.threads(), size);
    Marks marks(999);
    pool.run(Marks::task, &marks, 999, 1);
    EXPECT_TRUE(marks.eachOnce());
    EXPECT_LT(marks.workersSeen.load(), 1 << size);
  }
}

TEST(Shares, EveryChunkIsTakenOnceByTheOwnerFromTheFront) {
  for (std::int64_t whole : {1, 2, 3, 31, 32, 33}) {
    for (std::uint32_t turns : {0U, 0x5555U, 0x0f0fU, ~0U}) {
      std::vector<int> taken(whole);
      std::int64_t next = 0, end = whole;
      for (unsigned turn = 0; next < end; ++turn) {
        bool isOwner = turns >> turn % 32 & 1;
        Taken some = take(next, end, whole, isOwner);
        EXPECT_EQ(some.first, isOwner ? next : end - some.count);
        EXPECT_LE(some.count, std::max<std::int64_t>(1, (end - next) / 2));
        for (std::int64_t chunk = 0; chunk < some.count; ++chunk)
          ++taken[some.first + chunk];
        next = some.next, end = some.end;
      }
      EXPECT_EQ(taken, std::vector<int>(whole, 1)) << whole << ' ' << turns;
    }
  }
}

TEST(Pool, AForkedChildMakesItsOwnThreads) {
  Pool pool(4);
  Marks before(500);
  pool.run(Marks::task, &before, 500, 1);
  pid_t child = fork();
  if (child == 0) {
    bool good = true;
    for (int job = 0; job < 100; ++job) {
      Marks marks(500);
      pool.run(Marks::task, &marks, 500, 1);
      good = good && marks.eachOnce();
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Marks after(500);
  pool.run(Marks::task, &after, 500, 1);
  EXPECT_TRUE(after.eachOnce());
}

TEST(Pool, ZeroMeansTheProcessorsOfTheProcess) {
  EXPECT_EQ(Pool(0).threads(), Pool::processors());
  EXPECT_GE(Pool::processors(), 1);
}

/// Files of control groups in a folder of their own.
class Quota : public ::testing::Test {
protected:
  void SetUp() override {
    root =
        fs::temp_directory_path() / ("quern-quota" + std::to_string(getpid()));
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root); }
  void write(const std::string &path, const std::string &text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  int quota() const {
    return quern::jit::processorQuota(root / "groups", root / "own");
  }
  fs::path root;
};

TEST_F(Quota, IsTheLeastOfTheGroupsAbove) {
  EXPECT_EQ(quota(), 0);
  write("own", "0::/a/b\n");
  EXPECT_EQ(quota(), 0);
  write("groups/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
  write("groups/a/cpu.max", "350000 100000\n");
  EXPECT_EQ(quota(), 4);
  write("groups/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 2);
  write("groups/cpu.max", "1000 100000\n");
  EXPECT_EQ(quota(), 1);
}

/// A container sees its own group as the root.
TEST_F(Quota, IsFoundInAContainer) {
  write("own", "0::/\n");
  write("groups/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
  write("own", "0::/not/seen/from/here\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Quota, OfOlderSystemsIsRead) {
  write("own", "4:memory:/m\n3:cpu,cpuacct:/a\n");
  write("groups/cpu/a/cpu.cfs_quota_us", "250000\n");
  write("groups/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
  write("groups/cpu/a/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), 0);
}

#if defined(__x86_64__)
/// Half of the least normal number, as each unit computes it.
struct Halves {
  volatile float least = std::numeric_limits<float>::min();
  std::vector<float> results;
  std::atomic<int> workers{0};
  explicit Halves(std::size_t units) : results(units, -1) {}

  static void task(const void *context, std::int64_t begin, std::int64_t end,
                   std::int64_t worker) {
    auto &halves = *static_cast<Halves *>(const_cast<void *>(context));
    for (std::int64_t unit = begin; unit < end; ++unit)
      halves.results[unit] = halves.least * 0.5f;
    halves.workers.fetch_or(1 << worker);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
};

TEST(Pool, WorkersRoundAndFlushAsTheCallerDoes) {
  Pool pool(4);
  for (bool flushes : {false, true, false}) {
    unsigned before = _mm_getcsr();
    _mm_setcsr(flushes ? before | 0x8040 : before & ~0x8040u);
    Halves halves(4000);
    pool.run(Halves::task, &halves, 4000, 10);
    _mm_setcsr(before);
    float wanted = flushes ? 0 : std::numeric_limits<float>::min() / 2;
    EXPECT_GT(std::popcount(unsigned(halves.workers.load())), 1);
    for (float result : halves.results)
      ASSERT_EQ(result, wanted);
  }
}

/// Threads of the host's get their own mode back.
TEST(Pool, ThreadsOfTheHostKeepTheirMode) {
  auto host = [](void (*body)(void *, int), void *context, int members) {
    std::vector<std::thread> threads;
    for (int member = 1; member < members; ++member)
      threads.emplace_back([=] {
        unsigned before = _mm_getcsr();
        body(context, member);
        EXPECT_EQ(_mm_getcsr() & 0xffc0, before & 0xffc0);
      });
    body(context, 0);
    for (std::thread &thread : threads)
      thread.join();
    return true;
  };
  Pool pool(4, host);
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  Halves halves(4000);
  pool.run(Halves::task, &halves, 4000, 10);
  _mm_setcsr(before);
  for (float result : halves.results)
    ASSERT_EQ(result, 0);
}
#endif

} // namespace
