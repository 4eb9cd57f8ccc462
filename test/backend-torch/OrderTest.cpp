// When the steps of a graph run: what makes much waits for its first reader.
#include "test/backend-torch/GraphMaker.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::testing;

namespace {

/// Graphs of steps that nothing joins.
class Order : public ::testing::Test {
protected:
  ValueId step(std::vector<ValueId> reads, std::vector<Size> sizes) {
    std::vector<NamedArgument> arguments;
    for (std::size_t i = 0; i != reads.size(); ++i)
      arguments.push_back(maker.tensor("x" + std::to_string(i), reads[i]));
    return maker.call("aten::unknown", std::move(arguments), std::move(sizes));
  }

  /// The values of the steps in the order in which they run.
  std::vector<ValueId> order(const std::vector<ValueId> &outputs) {
    FusionPlan plan = fused(maker, outputs);
    std::vector<ValueId> values;
    values.reserve(plan.order.size());
    for (const Unit &unit : plan.order)
      values.push_back(plan.graph->nodes[unit.node].results.front());
    return values;
  }

  GraphMaker maker;
  std::vector<Size> small = {maker.size(4)}, large = {maker.size(1 << 20)};
};

TEST_F(Order, WhatMakesMoreThanItLetsGoWaits) {
  ValueId x = maker.input(small), y = maker.input(small);
  ValueId made = step({x}, large), other = step({y}, small);
  ValueId read = step({made, other}, small);
  EXPECT_EQ(order({read}), (std::vector{other, made, read}));
}

TEST_F(Order, ChainsWaitTogether) {
  ValueId x = maker.input(small), y = maker.input(small);
  ValueId first = step({x}, large), second = step({first}, large);
  ValueId other = step({y}, small), read = step({second, other}, small);
  EXPECT_EQ(order({read}), (std::vector{other, first, second, read}));
}

TEST_F(Order, WhatLetsMoreGoDoesNot) {
  ValueId x = maker.input(large), y = maker.input(small);
  ValueId sum = step({x}, {maker.size(1 << 19)}), other = step({y}, small);
  ValueId read = step({sum, other}, small);
  EXPECT_EQ(order({read}), (std::vector{sum, other, read}));
}

TEST_F(Order, WhatOthersReadLaterIsNotLetGo) {
  ValueId x = maker.input(large), y = maker.input(small);
  ValueId half = step({x}, {maker.size(1 << 19)}), other = step({y}, small);
  ValueId read = step({half, other}, small), last = step({x, read}, small);
  EXPECT_EQ(order({last}), (std::vector{other, half, read, last}));
}

TEST_F(Order, LittleStaysWhereItIs) {
  ValueId x = maker.input(small), y = maker.input(small);
  ValueId made = step({x}, small), other = step({y}, small);
  ValueId read = step({made, other}, small);
  EXPECT_EQ(order({read}), (std::vector{made, other, read}));
}

TEST_F(Order, EffectsAreNotPassed) {
  ValueId x = maker.input(small), y = maker.input(small);
  ValueId made = step({x}, large), changed = step({y}, small);
  maker.last().mutates = true;
  ValueId read = step({made, changed}, small);
  EXPECT_EQ(order({read}), (std::vector{made, changed, read}));
}

TEST_F(Order, NumbersAreDrawnInTheirOrder) {
  ValueId x = maker.input(small), y = maker.input(small);
  ValueId drawn = step({x}, large);
  maker.last().isRandom = true;
  ValueId other = step({y}, small), read = step({drawn, other}, small);
  EXPECT_EQ(order({read}), (std::vector{drawn, other, read}));
}

} // namespace
