// Memory between calls: pieces come again, segments go when nobody needs them.
#include "backend-torch/run/Memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

using namespace quern;

namespace {

constexpr std::size_t Large = 8 << 20;

at::Tensor floats(Memory &memory, std::int64_t count) {
  return emptyTensor(memory, {count}, {1}, c10::kFloat,
                     static_cast<std::size_t>(count) * sizeof(float));
}

TEST(MemoryTest, FreedPiecesComeAgain) {
  auto memory = std::make_shared<Memory>();
  void *first = memory->allocate(Large).get();
  EXPECT_EQ(memory->allocate(Large / 2).get(), first);
  EXPECT_EQ(memory->usage().inUse, 0);
  c10::DataPtr a = memory->allocate(Large), b = memory->allocate(Large);
  EXPECT_NE(a.get(), b.get());
  a.clear();
  EXPECT_EQ(memory->allocate(Large / 2).get(), first) << "the lowest address";
}

TEST(MemoryTest, TheSmallestPieceThatFitsIsTaken) {
  auto memory = std::make_shared<Memory>();
  c10::DataPtr wide = memory->allocate(3 * Large), b = memory->allocate(Large),
               narrow = memory->allocate(Large), d = memory->allocate(Large);
  void *below = wide.get(), *exact = narrow.get();
  wide.clear();
  narrow.clear();
  c10::DataPtr taken = memory->allocate(Large);
  EXPECT_EQ(taken.get(), exact);
  EXPECT_EQ(memory->allocate(2 * Large).get(), below);
}

TEST(MemoryTest, NeighboursBecomeOnePiece) {
  auto memory = std::make_shared<Memory>();
  c10::DataPtr a = memory->allocate(Large), b = memory->allocate(Large),
               c = memory->allocate(Large), d = memory->allocate(Large);
  void *first = a.get();
  a.clear();
  c.clear();
  b.clear();
  EXPECT_EQ(memory->allocate(3 * Large).get(), first);
}

/// Else it would be had, and the system would end whoever writes to it.
TEST(MemoryTest, WhatTheSystemHasNotIsRefused) {
  auto memory = std::make_shared<Memory>();
  EXPECT_THROW(memory->allocate(std::size_t(1) << 45), c10::Error);
  EXPECT_EQ(memory->usage().inUse, 0);
}

TEST(MemoryTest, WhatManyCallsDidNotNeedGoesBack) {
  auto memory = std::make_shared<Memory>();
  c10::DataPtr kept = memory->allocate(Large);
  std::size_t least = memory->usage().mapped;
  char *far = nullptr;
  {
    c10::DataPtr huge = memory->allocate(Large << 5);
    far = static_cast<char *>(huge.get()) + (Large << 4);
    *far = 1;
  }
  std::int64_t before = memory->usage().mapped;
  EXPECT_GE(before, std::int64_t(Large) << 5);
  for (int i = 0; i != 200; ++i)
    memory->endCall();
  EXPECT_LE(memory->usage().mapped, std::int64_t(least + Large));
  EXPECT_GE(memory->usage().mapped, std::int64_t(least));
  EXPECT_EQ(*far, 0) << "a fresh page";
  kept.clear();
  memory->trim();
  EXPECT_EQ(memory->usage().mapped, 0);
}

TEST(MemoryTest, WhatEveryCallNeedsStays) {
  auto memory = std::make_shared<Memory>();
  c10::DataPtr kept = memory->allocate(Large);
  char *far = nullptr;
  for (int i = 0; i != 200; ++i) {
    c10::DataPtr again = memory->allocate(Large << 2);
    far = static_cast<char *>(again.get()) + (Large << 1);
    if (i != 0) {
      EXPECT_EQ(*far, 1) << i;
    }
    *far = 1;
    again.clear();
    memory->endCall();
  }
}

TEST(MemoryTest, TensorsOutliveTheirMemory) {
  auto memory = std::make_shared<Memory>();
  at::Tensor large = floats(*memory, Large), small = floats(*memory, 16);
  EXPECT_GE(memory->usage().inUse, std::int64_t(4 * Large));
  EXPECT_LT(memory->usage().inUse, std::int64_t(5 * Large));
  memory.reset();
  large.fill_(2);
  large.resize_({std::int64_t(2 * Large)});
  EXPECT_EQ(large[Large - 1].item<float>(), 2);
}

} // namespace
