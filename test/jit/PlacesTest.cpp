// Workers stay off the processor of the caller, within what the host allows.
#include "jit/pool/Places.h"

#include <gtest/gtest.h>

#include <thread>
#include <unistd.h>
#include <vector>

using quern::jit::Places;

namespace {

/// A thread that sleeps, and the calling thread on one processor, `here`.
class PlacesTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2)
      GTEST_SKIP() << "one processor";
    ASSERT_EQ(pipe(ends), 0);
    sleeper = std::thread([this] {
      char end;
      EXPECT_EQ(read(ends[0], &end, 1), 1);
    });
    workers = {sleeper.native_handle()};
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all))
        cpus.push_back(cpu);
    stayOn(cpus[0]);
  }

  void TearDown() override {
    if (!sleeper.joinable())
      return;
    sched_setaffinity(0, sizeof all, &all);
    EXPECT_EQ(write(ends[1], "", 1), 1);
    sleeper.join();
  }

  void stayOn(int cpu) {
    cpu_set_t only = one(cpu);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    ASSERT_EQ(sched_getcpu(), cpu);
  }

  static cpu_set_t one(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return set;
  }

  cpu_set_t without(int cpu) {
    cpu_set_t set = all;
    CPU_CLR(cpu, &set);
    return set;
  }

  bool mayUse(cpu_set_t expected) {
    cpu_set_t now;
    pthread_getaffinity_np(workers[0], sizeof now, &now);
    return CPU_EQUAL(&now, &expected);
  }

  cpu_set_t all;
  int ends[2];
  std::thread sleeper;
  std::vector<pthread_t> workers;
  std::vector<int> cpus;
  Places places;
};

TEST_F(PlacesTest, StayOffTheCallersProcessor) {
  places.start();
  places.keepAway(workers);
  EXPECT_TRUE(mayUse(without(cpus[0])));
  stayOn(cpus[1]);
  places.keepAway(workers);
  EXPECT_TRUE(mayUse(without(cpus[1])));
}

TEST_F(PlacesTest, OneThatWasBroughtIsSentAwayAgain) {
  places.start();
  places.keepAway(workers);
  places.bringHere(workers[0]);
  EXPECT_TRUE(mayUse(one(cpus[0])));
  places.keepAway(workers);
  EXPECT_TRUE(mayUse(without(cpus[0])));
}

TEST_F(PlacesTest, WhatTheHostSetsIsKept) {
  places.start();
  places.keepAway(workers);
  cpu_set_t hosts = one(cpus[0]);
  ASSERT_EQ(pthread_setaffinity_np(workers[0], sizeof hosts, &hosts), 0);
  stayOn(cpus[1]);
  places.keepAway(workers);
  EXPECT_TRUE(mayUse(hosts));
  stayOn(cpus[0]);
  places.keepAway(workers);
  EXPECT_TRUE(mayUse(hosts));
}

TEST(Places, AThreadThatSleepsSpendsNoTime) {
  timespec before = quern::jit::spentBy(pthread_self());
  for (volatile int i = 0; i < 100000; i = i + 1)
    ;
  timespec after = quern::jit::spentBy(pthread_self());
  EXPECT_TRUE(before.tv_nsec != after.tv_nsec || before.tv_sec != after.tv_sec);
}

} // namespace
