// What is fused, what is not and why, and the text that comes of it.
#include "backend-torch/program/Program.h"
#include "test/backend-torch/GraphMaker.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::testing;

namespace {

TEST(Fusion, ChainIsOneKernel) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(7), maker.size(5)});
  for (int i = 0; i != 20; ++i)
    x = maker.call("aten::sin", {maker.tensor("self", x)},
                   {maker.size(7), maker.size(5)});
  FusionPlan plan = fused(maker, {x});
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].draft.nodes().size(), 20u);
  EXPECT_EQ(plan.groups[0].outputs, std::vector<ValueId>{x});
}

TEST(Fusion, ContiguousAxesBecomeOne) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(7), maker.size(5)});
  ValueId y = maker.call("aten::silu", {maker.tensor("self", x)},
                         {maker.size(7), maker.size(5)});
  FusionPlan plan = fused(maker, {y});
  Program program = writeProgram(plan);
  ASSERT_EQ(program.kernels.size(), 1u);
  ASSERT_EQ(program.kernels[0].inputs[0].extents.size(), 1u);
  EXPECT_EQ(plan.sizes->constantOf(program.kernels[0].inputs[0].extents[0]),
            35);
  EXPECT_NE(program.text.find("from activations use silu"), std::string::npos);
  EXPECT_NE(program.text.find("(x0: f32) -> f32:\n    let v1 = silu(x0)"),
            std::string::npos)
      << program.text;
}

/// The program of sin, silu, sin, of which the first is made by another graph
/// or stored, or the second compared.
std::string chainText(DType type, bool isRecomputed, bool isStored,
                      bool isCompared) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(sizes, type);
  ValueId a = maker.call("aten::sin", {maker.tensor("self", x)}, sizes, type);
  maker.last().isRecomputed = isRecomputed;
  ValueId b = maker.call("aten::silu", {maker.tensor("self", a)}, sizes, type);
  ValueId c = maker.call("aten::sin", {maker.tensor("self", b)}, sizes, type);
  std::vector<ValueId> outputs = {c};
  if (isStored)
    outputs.push_back(a);
  if (isCompared)
    outputs.push_back(maker.call(
        "aten::lt.Tensor", {maker.tensor("self", b), maker.tensor("other", x)},
        sizes, DType::Bool));
  FusionPlan plan = fused(maker, outputs);
  EXPECT_EQ(plan.groups.size(), 1u);
  return writeProgram(plan).text;
}

TEST(Fusion, RoundsWhatOthersMakeReadOrCompare) {
  auto rounded = [](const std::string &text) {
    return std::pair(text.find("16(sin(x0))") != std::string::npos,
                     text.find("16(silu(v1))") != std::string::npos);
  };
  using Found = std::pair<bool, bool>;
  EXPECT_EQ(rounded(chainText(DType::BF16, false, false, false)),
            Found(false, false));
  EXPECT_EQ(rounded(chainText(DType::BF16, true, false, false)),
            Found(true, false));
  EXPECT_EQ(rounded(chainText(DType::BF16, false, true, false)),
            Found(true, false));
  EXPECT_EQ(rounded(chainText(DType::BF16, false, false, true)),
            Found(false, true));
  EXPECT_EQ(rounded(chainText(DType::F16, false, false, false)),
            Found(true, true));
  EXPECT_EQ(rounded(chainText(DType::F32, true, true, true)),
            Found(false, false));
}

TEST(Fusion, PrologueJoinsReduction) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(sizes);
  ValueId y =
      maker.call("aten::mul.Tensor",
                 {maker.tensor("self", x), maker.number("other", 3)}, sizes);
  ValueId z = maker.call("aten::_softmax",
                         {maker.tensor("self", y), maker.integer("dim", 1),
                          maker.truth("half_to_float", false)},
                         sizes);
  FusionPlan plan = fused(maker, {z});
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_TRUE(plan.groups[0].draft.hasReduction());
  Program program = writeProgram(plan);
  EXPECT_NE(program.text.find("(x0: f32[R0, C0]) -> f32[R0, C0]:\n"
                              "    let v1 = mul(x0, 3.0)\n"
                              "    let v2 = softmax[C = C0](v1)\n"
                              "    return v2"),
            std::string::npos)
      << program.text;
}

TEST(Fusion, ReductionsOverOtherAxesStayApart) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(7), maker.size(5)};
  ValueId x = maker.input(sizes);
  auto softmax = [&](ValueId value, int dim) {
    return maker.call("aten::_softmax",
                      {maker.tensor("self", value), maker.integer("dim", dim),
                       maker.truth("half_to_float", false)},
                      sizes);
  };
  ValueId y = softmax(softmax(x, 1), 0);
  FusionPlan plan = fused(maker, {y});
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_NE(plan.groups[0].stopped.find("along other axes"), std::string::npos)
      << plan.groups[0].stopped;
}

TEST(Fusion, ViewsRenameAxes) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(3), maker.size(8)});
  ValueId a = maker.call("aten::silu", {maker.tensor("self", x)},
                         {maker.size(3), maker.size(8)});
  ValueId heads = maker.view("aten::view", a, {},
                             {maker.size(3), maker.size(2), maker.size(4)});
  ValueId turned =
      maker.view("aten::permute", heads, {maker.integers("dims", {1, 0, 2})},
                 {maker.size(2), maker.size(3), maker.size(4)});
  ValueId b = maker.call("aten::silu", {maker.tensor("self", turned)},
                         {maker.size(2), maker.size(3), maker.size(4)});
  FusionPlan plan = fused(maker, {b});
  ASSERT_EQ(plan.groups.size(), 1u) << print(plan);
  EXPECT_EQ(plan.groups[0].draft.nodes().size(), 2u);
  Program program = writeProgram(plan);
  EXPECT_EQ(program.kernels[0].inputs[0].extents.size(), 3u);
}

TEST(Fusion, ResultAndItsTransposeStayApart) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(6), maker.size(6)};
  ValueId x = maker.input(sizes);
  ValueId a = maker.call("aten::silu", {maker.tensor("self", x)}, sizes);
  ValueId turned =
      maker.view("aten::permute", a, {maker.integers("dims", {1, 0})}, sizes);
  ValueId b = maker.call(
      "aten::mul.Tensor",
      {maker.tensor("self", a), maker.tensor("other", turned)}, sizes);
  FusionPlan plan = fused(maker, {b});
  ASSERT_EQ(plan.groups.size(), 2u) << print(plan);
  EXPECT_NE(plan.groups[0].stopped.find("meets its own transpose"),
            std::string::npos)
      << plan.groups[0].stopped;
}

TEST(Fusion, ViewOfAResultFollowsItsGroup) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(6)});
  ValueId a =
      maker.call("aten::silu", {maker.tensor("self", x)}, {maker.size(6)});
  ValueId v = maker.view("aten::view", a, {}, {maker.size(2), maker.size(3)});
  ValueId b = maker.call("aten::silu", {maker.tensor("self", v)},
                         {maker.size(2), maker.size(3)});
  FusionPlan plan = fused(maker, {b, v});
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_EQ(plan.order.size(), 2u);
  EXPECT_EQ(plan.order[0].group, 0);
  EXPECT_EQ(plan.order[1].node, plan.graph->values[v].node);
}

TEST(Fusion, BroadcastOperandHasStrideZero) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(7), maker.size(5)});
  ValueId w = maker.input({maker.size(5)});
  ValueId y = maker.call("aten::mul.Tensor",
                         {maker.tensor("self", x), maker.tensor("other", w)},
                         {maker.size(7), maker.size(5)});
  FusionPlan plan = fused(maker, {y});
  Program program = writeProgram(plan);
  const KernelOperand &operand = program.kernels[0].inputs[1];
  ASSERT_EQ(operand.strides.size(), 2u);
  EXPECT_EQ(plan.sizes->constantOf(operand.strides[0]), 0);
  EXPECT_EQ(plan.sizes->constantOf(operand.strides[1]), 1);
}

TEST(Fusion, EqualGroupsShareADeclaration) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(7)});
  ValueId a =
      maker.call("aten::silu", {maker.tensor("self", x)}, {maker.size(7)});
  ValueId b =
      maker.call("aten::unknown", {maker.tensor("self", a)}, {maker.size(7)});
  ValueId c =
      maker.call("aten::silu", {maker.tensor("self", b)}, {maker.size(7)});
  FusionPlan plan = fused(maker, {c});
  Program program = writeProgram(plan);
  ASSERT_EQ(program.kernels.size(), 2u);
  EXPECT_EQ(program.kernels[0].declaration, program.kernels[1].declaration);
  ASSERT_EQ(plan.opaque.size(), 1u);
  EXPECT_EQ(plan.opaque[0].second.reason, "the library has no kernel for it");
}

/// `x` through a kernel, once or for others as well, joined with itself.
FusionPlan joined(bool othersRead, DType type) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(3), maker.size(8)};
  ValueId x = maker.input(sizes, type);
  ValueId a = maker.call("aten::silu", {maker.tensor("self", x)}, sizes, type);
  ValueId z = maker.call(
      "aten::cat", {maker.tensors("tensors", {x, a}), maker.integer("dim", 1)},
      {maker.size(3), maker.size(16)});
  return fused(maker, othersRead ? std::vector<ValueId>{z, a}
                                 : std::vector<ValueId>{z});
}

TEST(Fusion, APartIsStoredInItsPlace) {
  FusionPlan plan = joined(/*othersRead=*/false, DType::F32);
  ASSERT_EQ(plan.groups.size(), 2u) << print(plan);
  EXPECT_NE(print(plan).find("stores: n1 in its place in n2"),
            std::string::npos)
      << print(plan);
  Program program = writeProgram(plan);
  const KernelOperand &stored = program.kernels[0].outputs[0];
  EXPECT_EQ(stored.base, plan.graph->nodes[2].results[0]);
  EXPECT_EQ(plan.sizes->constantOf(stored.offset), 8);
  EXPECT_EQ(plan.sizes->constantOf(stored.strides[0]), 16);
}

TEST(Fusion, APartThatOthersReadIsCopied) {
  FusionPlan plan = joined(/*othersRead=*/true, DType::F32);
  ASSERT_EQ(plan.groups.size(), 3u) << print(plan);
  EXPECT_EQ(plan.groups[2].stopped, "others read it");
}

TEST(Fusion, APartOfAnotherTypeIsCopied) {
  FusionPlan plan = joined(/*othersRead=*/false, DType::F64);
  ASSERT_EQ(plan.groups.size(), 3u) << print(plan);
  EXPECT_EQ(plan.groups[2].stopped, "it is of another type");
}

TEST(Fusion, APartThatIsAllOfAnAxisIsTheWhole) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4), maker.size(1)});
  ValueId a = maker.call("aten::silu", {maker.tensor("self", x)},
                         {maker.size(4), maker.size(1)});
  ValueId column = maker.view(
      "aten::select.int", a,
      {maker.integer("dim", 1), maker.integer("index", 0)}, {maker.size(4)});
  ValueId b =
      maker.call("aten::sin", {maker.tensor("self", column)}, {maker.size(4)});
  EXPECT_EQ(fused(maker, {b}).groups.size(), 1u);
}

/// Two kernels' worth of work on a row of a matrix.
static FusionPlan onARow(int otherRow) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4), maker.size(5)});
  auto row = [&](int index) {
    return maker.view("aten::select.int", x,
                      {maker.integer("dim", 0), maker.integer("index", index)},
                      {maker.size(5)});
  };
  ValueId first = row(0), second = otherRow == 0 ? first : row(otherRow);
  ValueId a =
      maker.call("aten::silu", {maker.tensor("self", first)}, {maker.size(5)});
  ValueId b =
      maker.call("aten::sin", {maker.tensor("self", second)}, {maker.size(5)});
  return fused(maker, {a, b});
}

TEST(Fusion, ReadersOfOneViewAreOneKernel) {
  EXPECT_EQ(onARow(0).groups.size(), 1u);
  EXPECT_EQ(onARow(1).groups.size(), 2u);
}

TEST(Fusion, StepBetweenIsNoCycle) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(7)});
  ValueId a =
      maker.call("aten::silu", {maker.tensor("self", x)}, {maker.size(7)});
  ValueId b =
      maker.call("aten::unknown", {maker.tensor("self", a)}, {maker.size(7)});
  ValueId c = maker.call("aten::mul.Tensor",
                         {maker.tensor("self", a), maker.tensor("other", b)},
                         {maker.size(7)});
  FusionPlan plan = fused(maker, {c});
  ASSERT_EQ(plan.groups.size(), 2u);
  ASSERT_EQ(plan.order.size(), 3u);
  EXPECT_EQ(plan.order[1].node, plan.graph->values[b].node);
}

TEST(Fusion, NothingMovesAcrossAWrite) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(7)});
  ValueId a =
      maker.call("aten::silu", {maker.tensor("self", x)}, {maker.size(7)});
  maker.call("aten::copy_", {maker.tensor("self", x), maker.tensor("src", a)},
             {maker.size(7)});
  maker.last().mutates = true;
  ValueId b =
      maker.call("aten::silu", {maker.tensor("self", a)}, {maker.size(7)});
  FusionPlan plan = fused(maker, {b});
  ASSERT_EQ(plan.order.size(), 3u);
  ASSERT_GE(plan.order[1].group, 0);
  EXPECT_EQ(plan.groups[plan.order[1].group].part, 0);
  EXPECT_EQ(plan.groups[plan.order[2].group].outputs, std::vector<ValueId>{b});
}

TEST(Fusion, LayerNormWithKeptStatistics) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(2), maker.size(3), maker.size(5)};
  ValueId x = maker.input(sizes), w = maker.input({maker.size(5)});
  ValueId y = maker.call("aten::native_layer_norm",
                         {maker.tensor("input", x),
                          maker.integers("normalized_shape", {5}),
                          maker.tensor("weight", w),
                          {"bias", {}, true, false},
                          maker.number("eps", 1e-5)},
                         sizes);
  ValueId mean = maker.further({maker.size(2), maker.size(3), maker.size(1)});
  maker.further({maker.size(2), maker.size(3), maker.size(1)});
  FusionPlan plan = fused(maker, {y, mean});
  ASSERT_EQ(plan.groups.size(), 1u) << print(plan);
  Program program = writeProgram(plan);
  EXPECT_NE(program.text.find("-> (f32[R0, C0], f32[R0]):"), std::string::npos)
      << program.text;
  EXPECT_NE(program.text.find("layer_norm[*C = C0](x0, x1, none, 1e-05)"),
            std::string::npos)
      << program.text;
}

} // namespace
