// Which dimensions of tensors the axes of a declaration are.
#include "backend-torch/ops/AxisPlaces.h"

#include <gtest/gtest.h>

using namespace quern;

namespace {

using Lists = std::vector<std::vector<int>>;

bool never(int) { return false; }
bool always(int) { return true; }

TEST(AxisPlaces, ChosenAxisMovesToItsPlace) {
  auto places = AxisPlaces::find(parsePattern("T[*R, C]"), 3, "C", {1});
  ASSERT_TRUE(places);
  EXPECT_EQ(places->dimensions(parsePattern("T[*R, C]"), 3, never),
            (Lists{{0, 2}, {1}}));
}

TEST(AxisPlaces, OtherNameStandsAtTheChosenPlace) {
  auto places = AxisPlaces::find(parsePattern("I[*R, C]"), 3, "C", {0});
  ASSERT_TRUE(places);
  EXPECT_EQ(places->dimensions(parsePattern("T[*R, N]"), 3, never),
            (Lists{{1, 2}, {0}}));
}

TEST(AxisPlaces, OtherNamesStandAsTheChosenOnesDo) {
  auto places = AxisPlaces::find(parsePattern("I[*R, C]"), 3, "C", {0});
  ASSERT_TRUE(places);
  EXPECT_EQ(places->dimensions(parsePattern("T[*S, N]"), 3, never),
            (Lists{{1, 2}, {0}}));
}

TEST(AxisPlaces, APackOfItsOwnTakesTheOtherDimensions) {
  auto places = AxisPlaces::find(parsePattern("T[*R, C]"), 3, "C", {0});
  ASSERT_TRUE(places);
  EXPECT_EQ(places->dimensions(parsePattern("T[*K, C]"), 3, never),
            (Lists{{1, 2}, {0}}));
}

TEST(AxisPlaces, ReducedDimensionsAreLeftOut) {
  auto places = AxisPlaces::find(parsePattern("T[*R, *C]"), 3, "C", {0, 2});
  ASSERT_TRUE(places);
  TypePattern rows = parsePattern("T[*R]");
  EXPECT_EQ(places->dimensions(rows, 1, never), (Lists{{0}}));
  EXPECT_EQ(places->dimensions(rows, 3, always), (Lists{{1}})) << "keepdim";
  EXPECT_FALSE(places->dimensions(rows, 3, never));
}

TEST(AxisPlaces, TwoPacksAroundTheChosenAxis) {
  auto places = AxisPlaces::find(parsePattern("T[*L, N, *R]"), 4, "N", {1});
  ASSERT_TRUE(places);
  EXPECT_EQ(places->packs().at("R"), (std::vector<int>{2, 3}));
  EXPECT_EQ(places->dimensions(parsePattern("I[K]"), 1, never), (Lists{{0}}));
  EXPECT_EQ(places->dimensions(parsePattern("T[*L, *K, *R]"), 5, never),
            (Lists{{0}, {1, 2}, {3, 4}}));
  EXPECT_FALSE(AxisPlaces::find(parsePattern("T[*L, *M, N]"), 3, "N", {2}));
}

TEST(AxisPlaces, WithoutAChoiceEveryPatternIsReadAlone) {
  AxisPlaces places;
  EXPECT_EQ(places.dimensions(parsePattern("T[N, C, *S]"), 4, never),
            (Lists{{0}, {1}, {2, 3}}));
  EXPECT_FALSE(places.dimensions(parsePattern("T[N, C]"), 3, never));
}

} // namespace
