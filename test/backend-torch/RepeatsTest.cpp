// Which calls are left out because an earlier one gave the same, and which
// stay.
#include "backend-torch/ops/Repeats.h"
#include "test/backend-torch/GraphMaker.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::testing;

namespace {

class Repeats : public ::testing::Test {
protected:
  ValueId add(ValueId value, double number) {
    return maker.call(
        "aten::add.Tensor",
        {maker.tensor("self", value), maker.number("other", number)}, sizes);
  }
  ValueId of(const std::string &overload, ValueId value) {
    return maker.call(overload, {maker.tensor("self", value)}, sizes);
  }
  ValueId sum(ValueId a, ValueId b) {
    return maker.call("aten::add.Tensor",
                      {maker.tensor("self", a), maker.tensor("other", b)},
                      sizes);
  }
  /// How many nodes are left of the graph that gives `output`.
  std::size_t left(ValueId output) {
    graph = withoutRepeats(maker.finish({output}));
    for (const Node &node : graph->nodes)
      for (ValueId id : graph->operands(node))
        EXPECT_LT(graph->values[id].node, &node - graph->nodes.data());
    return graph->nodes.size();
  }

  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(sizes);
  std::shared_ptr<const Graph> graph;
};

TEST_F(Repeats, WholeChainsAreMadeOnce) {
  ValueId first = of("aten::sin", add(x, 1)),
          again = of("aten::sin", add(x, 1));
  EXPECT_EQ(left(sum(first, again)), 4u);
  EXPECT_EQ(graph->operands(graph->nodes.back()),
            (std::vector<ValueId>{first, first}));
  EXPECT_FALSE(graph->values[again].isRead);
}

TEST_F(Repeats, OtherNumbersAreOthers) {
  // Zero and its negative differ in what is added to a negative zero.
  EXPECT_EQ(left(sum(add(x, 0.0), add(x, -0.0))), 4u);
}

TEST_F(Repeats, RandomCallsStay) {
  ValueId first = of("aten::bernoulli", x);
  maker.last().isRandom = true;
  ValueId again = of("aten::bernoulli", x);
  maker.last().isRandom = true;
  EXPECT_EQ(left(sum(first, again)), 4u);
}

TEST_F(Repeats, WhatUsersAddedStays) {
  EXPECT_EQ(left(sum(of("mine::f", x), of("mine::f", x))), 4u);
}

TEST_F(Repeats, OutputsAreMemoryOfTheirOwn) {
  ValueId inner = of("aten::sin", x), output = of("aten::sin", x);
  sum(inner, x);
  EXPECT_EQ(left(output), 4u);
}

TEST_F(Repeats, CallsOnBothSidesOfAWriteStay) {
  ValueId before = of("aten::sin", x);
  of("aten::relu_", x);
  maker.last().mutates = true;
  EXPECT_EQ(left(sum(before, of("aten::sin", x))), 5u);
}

TEST_F(Repeats, CopiesThatAreWrittenToStay) {
  ValueId kept = of("aten::clone", x), changed = of("aten::clone", x);
  of("aten::relu_", changed);
  maker.last().mutates = true;
  EXPECT_EQ(left(sum(kept, changed)), 5u);
}

TEST_F(Repeats, WhatIsMadeOfEqualFillsIsMadeOnce) {
  auto fill = [&] {
    return maker.call("aten::scalar_tensor", {maker.number("s", 2)}, {});
  };
  ValueId first = sum(x, fill()), again = sum(x, fill());
  EXPECT_EQ(left(sum(first, again)), 4u);
}

TEST_F(Repeats, FillsOfOthersStay) {
  auto fill = [&] {
    return maker.call("aten::scalar_tensor", {maker.number("s", 2)}, {});
  };
  ValueId first = sum(x, fill()), other = sum(add(x, 1), fill());
  EXPECT_EQ(left(sum(first, other)), 7u);
}

} // namespace
