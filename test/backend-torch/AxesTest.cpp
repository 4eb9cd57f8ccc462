// Axes of a group: unification, splitting, views.
#include "backend-torch/groups/Axes.h"

#include <gtest/gtest.h>

using namespace quern;

namespace {

class Axes : public ::testing::Test {
protected:
  Size size(std::int64_t extent) { return sizes.constant(extent); }
  SizeTable sizes;
  AxisTable axes{&sizes};
};

TEST_F(Axes, ExtentOneHasNone) { EXPECT_TRUE(axes.fresh(size(1)).empty()); }

TEST_F(Axes, EqualExtentsBecomeOne) {
  Dimension a = axes.fresh(size(5)), b = axes.fresh(size(5));
  ASSERT_TRUE(axes.unify(a, b));
  EXPECT_EQ(axes.resolve(a), axes.resolve(b));
}

TEST_F(Axes, UnlikeExtentsDoNot) {
  EXPECT_FALSE(axes.unify(axes.fresh(size(6)), axes.fresh(size(4))));
}

TEST_F(Axes, ViewSplitsAndMerges) {
  Dimensions from = {axes.fresh(size(3)), axes.fresh(size(8))};
  Size split[] = {size(3), size(2), size(4)};
  std::optional<Dimensions> heads = axes.reshape(from, split);
  ASSERT_TRUE(heads);
  EXPECT_EQ(axes.resolve(from[1]).size(), 2u);
  Size flat[] = {size(6), size(4)};
  std::optional<Dimensions> merged = axes.reshape(*heads, flat);
  ASSERT_TRUE(merged);
  EXPECT_EQ(axes.resolve((*merged)[0]).size(), 2u);
}

TEST_F(Axes, ViewAcrossFactorsIsRefused) {
  Dimensions from = {axes.fresh(size(4)), axes.fresh(size(3))};
  Size across[] = {size(3), size(4)};
  EXPECT_FALSE(axes.reshape(from, across));
}

TEST_F(Axes, SymbolicExtentsFactor) {
  Size s = sizes.symbol("s0");
  Dimensions from = {axes.fresh(sizes.multiply(s, size(64)))};
  Size split[] = {s, size(64)};
  EXPECT_TRUE(axes.reshape(from, split));
}

TEST_F(Axes, WholeAxisIsNotSplit) {
  Dimensions from = {axes.fresh(size(8))};
  ASSERT_TRUE(axes.keepWhole(from[0]));
  Size split[] = {size(2), size(4)};
  EXPECT_FALSE(axes.reshape(from, split));
}

} // namespace
