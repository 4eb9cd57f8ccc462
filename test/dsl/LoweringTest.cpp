// The facade from the text of a qn module to LLVM IR and a packet.
#include "dsl/Dsl.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

using namespace quern;

static constexpr const char *scale = R"(
qn.rowwise @scale axes [R, C]
    attributes {numbers = array<i64: 0, 0, 2>}
    (%x: !qn.tensor<f32, [R, C:1]>, %a: f32, %out: !qn.tensor<f32, [R:1, C]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %r = arith.mulf %v, %a : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [R:1, C]>
})";

TEST(Lowering, GivesFunctionsAndPacket) {
  DslContext context;
  std::vector<DslError> errors;
  std::vector<std::string> stages;
  LoweringOptions options;
  options.target = *targetNamed("x86-64-v3");
  options.observer.wants = [](Stage) { return true; };
  options.observer.take = [&](Stage stage, const std::string &text) {
    EXPECT_FALSE(text.empty());
    stages.emplace_back(spelling(stage));
  };
  auto module = parseQn(context, scale, errors);
  ASSERT_TRUE(module);
  auto lowered = lower(context, std::move(*module), options, errors);
  ASSERT_TRUE(lowered) << (errors.empty() ? "" : errors[0].message);
  EXPECT_EQ(stages, (std::vector<std::string>{"qn", "schedule", "loops",
                                              "llvm-dialect"}));
  ASSERT_EQ(lowered->abi.launches.size(), 3u); // two for lines of few elements
  for (const auto &launch : lowered->abi.launches) {
    EXPECT_TRUE(lowered->module->getFunction(launch.task));
    EXPECT_EQ(launch.when.results.size(), 1u);
    EXPECT_EQ(launch.plan.results.size(), 5u);
  }

  using Kind = PacketWord::Kind;
  std::vector<Kind> kinds;
  for (const PacketWord &word : lowered->abi.words)
    kinds.push_back(word.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::ErrorRecord, Kind::Workspace,
                                      Kind::Pointer, Kind::Pointer,
                                      Kind::Extent, Kind::Extent, Kind::Stride,
                                      Kind::Stride, Kind::Scalar}));
  EXPECT_EQ(lowered->abi.words[3].operand, 2);
  EXPECT_EQ(lowered->abi.words[7].axis, 1);
}

TEST(Lowering, MakesTheVariantThatIsChosen) {
  DslContext context;
  std::vector<DslError> errors;
  LoweringOptions options;
  options.target = *targetNamed("x86-64-v3");
  options.choose = [](const KernelAbi &abi) {
    EXPECT_FALSE(abi.launches[0].when.steps.empty());
    EXPECT_TRUE(abi.launches[0].plan.steps.empty());
    return Variant{leftOut, 0, leftOut};
  };
  auto lowered =
      lower(context, *parseQn(context, scale, errors), options, errors);
  ASSERT_TRUE(lowered) << (errors.empty() ? "" : errors[0].message);
  const std::vector<LaunchEntry> &launches = lowered->abi.launches;
  EXPECT_FALSE(lowered->module->getFunction(launches[0].task));
  EXPECT_TRUE(launches[0].plan.steps.empty());
  EXPECT_TRUE(lowered->module->getFunction(launches[1].task));
  EXPECT_FALSE(launches[1].plan.steps.empty());
}

TEST(Lowering, ReportsErrorsAsData) {
  DslContext context;
  std::vector<DslError> errors;
  EXPECT_FALSE(parseQn(context, "qn.rowwise @x axes [A, A] () {}", errors));
  EXPECT_EQ(errors.front().code, "QN2060");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].message.find("occurs twice"), std::string::npos);
}

TEST(Targets, AreKnownByName) {
  EXPECT_EQ(targetNamed("x86-64-v4")->vectorBytes, 64u);
  EXPECT_FALSE(targetNamed("x86-64-v5"));
}
