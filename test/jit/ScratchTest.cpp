// Memory for the length of a run: what comes back is given out again.
#include "jit/pool/Scratch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

using namespace quern::jit;

namespace {

constexpr std::size_t large = 1 << 20;

TEST(Scratch, GivesAFreedPieceOutAgain) {
  Scratch scratch;
  char *first = nullptr;
  {
    Scratch::Piece piece(scratch, large);
    ASSERT_NE(piece.memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.memory) % 64, 0U);
    std::memset(piece.memory, 1, large);
    first = piece.memory;
    EXPECT_EQ(scratch.kept(), 0U);
  }
  EXPECT_EQ(scratch.kept(), large);
  Scratch::Piece piece(scratch, large - 100);
  EXPECT_EQ(piece.memory, first);
}

TEST(Scratch, PiecesThatLiveTogetherAreApart) {
  Scratch scratch;
  Scratch::Piece one(scratch, large), two(scratch, large);
  EXPECT_NE(one.memory, two.memory);
}

TEST(Scratch, TakesTheSmallestThatIsLargeEnough) {
  Scratch scratch;
  char *small = nullptr;
  {
    Scratch::Piece one(scratch, large), two(scratch, 3 * large);
    small = one.memory;
  }
  Scratch::Piece piece(scratch, large / 2);
  EXPECT_EQ(piece.memory, small);
}

TEST(Scratch, DoesNotGiveMuchForLittle) {
  Scratch scratch;
  {
    Scratch::Piece piece(scratch, 16 * large);
  }
  Scratch::Piece piece(scratch, large);
  EXPECT_EQ(scratch.kept(), 16 * large);
}

TEST(Scratch, KeepsNoMoreThanItMay) {
  constexpr std::size_t most = 32 * large;
  Scratch scratch(most);
  {
    Scratch::Piece piece(scratch, most + large);
  }
  EXPECT_EQ(scratch.kept(), 0U);
  {
    Scratch::Piece one(scratch, most / 2), two(scratch, most / 2),
        three(scratch, large);
  }
  EXPECT_LE(scratch.kept(), most);
  EXPECT_GT(scratch.kept(), most / 4);
}

/// Bytes of this process that the system may take without writing them away.
std::size_t offered() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (std::size_t kilobytes = 0; word == "LazyFree:" && file >> kilobytes)
      return kilobytes << 10;
  return 0;
}

TEST(Scratch, OffersWhatItKeepsBeyondItsOwn) {
  Scratch scratch(2 * Scratch::held);
  std::size_t before = offered();
  {
    Scratch::Piece piece(scratch, Scratch::held);
    std::memset(piece.memory, 1, Scratch::held);
  }
  EXPECT_LT(offered(), before + large);
  {
    Scratch::Piece held(scratch, Scratch::held), more(scratch, 16 * large);
    std::memset(more.memory, 1, 16 * large);
  }
  EXPECT_EQ(scratch.kept(), Scratch::held + 16 * large);
  EXPECT_GT(offered(), before + 8 * large);
}

TEST(Scratch, SmallPiecesAreNotKept) {
  Scratch scratch;
  {
    Scratch::Piece piece(scratch, 100);
  }
  {
    Scratch::Piece nothing(scratch, 0);
  }
  EXPECT_EQ(scratch.kept(), 0U);
}

} // namespace
