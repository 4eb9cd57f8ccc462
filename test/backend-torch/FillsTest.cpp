// Tensors of one number, which their readers compute, and slices put into them.
#include "backend-torch/program/Program.h"
#include "test/backend-torch/GraphMaker.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::testing;

namespace {

ValueId full(GraphMaker &maker, const std::vector<Size> &sizes, double value) {
  return maker.call("aten::full", {maker.number("fill_value", value)}, sizes);
}

ValueId product(GraphMaker &maker, ValueId a, ValueId b,
                const std::vector<Size> &sizes) {
  return maker.call("aten::mul.Tensor",
                    {maker.tensor("self", a), maker.tensor("other", b)}, sizes);
}

ValueId sliceScatter(GraphMaker &maker, ValueId x, ValueId src,
                     const std::vector<Size> &sizes, int start, int end) {
  return maker.call("aten::slice_scatter",
                    {maker.tensor("self", x), maker.tensor("src", src),
                     maker.integer("dim", 1), maker.integer("start", start),
                     maker.integer("end", end), maker.integer("step", 1)},
                    sizes);
}

TEST(Fills, EveryReaderComputesTheNumber) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(sizes), fill = full(maker, sizes, 3);
  ValueId a = product(maker, x, fill, sizes);
  // A step of ATen's lies between: two kernels.
  ValueId b = maker.call("aten::unknown", {maker.tensor("self", a)}, sizes);
  ValueId c = product(maker, b, fill, sizes);
  FusionPlan plan = fused(maker, {c});
  ASSERT_EQ(plan.groups.size(), 2u) << print(plan);
  EXPECT_EQ(plan.order.size(), 3u);
  for (const Group &group : plan.groups)
    EXPECT_EQ(group.inputs.size(), 1u);
  EXPECT_NE(writeProgram(plan).text.find("let v1 = f32(3.0)"),
            std::string::npos);
}

TEST(Fills, WhatAlsoAtenReadsIsWritten) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(sizes), fill = full(maker, sizes, 3);
  ValueId a = product(maker, x, fill, sizes);
  ValueId b = maker.call("aten::unknown", {maker.tensor("self", fill)}, sizes);
  FusionPlan plan = fused(maker, {a, b});
  ASSERT_EQ(plan.order.size(), 3u) << print(plan);
  EXPECT_EQ(plan.order[0].node, plan.graph->values[fill].node);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].inputs, std::vector<ValueId>{x});
}

TEST(Fills, LargerThanAllElseIsRead) {
  GraphMaker maker;
  std::vector<Size> row = {maker.size(5)},
                    sizes = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(row), fill = full(maker, sizes, 3);
  FusionPlan plan = fused(maker, {product(maker, x, fill, sizes)});
  ASSERT_EQ(plan.groups.size(), 1u) << print(plan);
  EXPECT_EQ(plan.groups[0].inputs, (std::vector<ValueId>{x, fill}));
}

TEST(Fills, SlicesOfSeveralLengthsJoinOneKernel) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(7), maker.size(8)},
                    low = {maker.size(7), maker.size(3)},
                    high = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(low), y = maker.input(high), z = maker.input(sizes);
  ValueId fill = full(maker, sizes, 0);
  ValueId a = sliceScatter(maker, fill, x, sizes, 0, 3);
  ValueId negative = maker.call("aten::silu", {maker.tensor("self", y)}, high);
  ValueId b = sliceScatter(maker, fill, negative, sizes, 3, 8);
  ValueId c = product(maker, product(maker, a, b, sizes), z, sizes);
  FusionPlan plan = fused(maker, {c});
  ASSERT_EQ(plan.groups.size(), 1u) << print(plan);
  EXPECT_EQ(plan.groups[0].inputs, (std::vector<ValueId>{x, y, z}));
  std::string text = writeProgram(plan).text;
  for (const char *call : {"slice_scatter[N = R3, M = R1](v3, x0, 0, 3, 1)",
                           "slice_scatter[N = R3, M = R2](v3, v5, 3, 8, 1)"})
    EXPECT_NE(text.find(call), std::string::npos) << text;
}

} // namespace
