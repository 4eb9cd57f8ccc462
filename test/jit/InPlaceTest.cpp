// Which tensors a result may take the memory of, and that it then holds what it
// would elsewhere.
#include "jit/Jit.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace quern;

namespace {

constexpr const char *text = R"(
from slices use slice_scatter, select_scatter

elementwise product(x: f32, y: f32) -> (f32, f32):
    return x * y, x + y

rowwise own(x: f32[M, N], y: f32[M, N]) -> (f32[M, N], f32[M, N]):
    let p, q = product(x, y)
    return p + y, q

rowwise reduced(x: f32[M, N]) -> f32[M, N]:
    return x - max(x over N)

rowwise shifted(x: f32[M, N], y: f32[M, N]) -> f32[M, N]:
    let z = x * 2
    return y + z.at(N = index(N) + 1, outside = 0)

rowwise turned(x: f32[M, N], y: f32[N, M]) -> f32[M, N]:
    return x + y

rowwise apart(x: f32[M, N]) -> (f32[M, N], f32[N, M]):
    return x, x * 2

rowwise parts(x: f32[M, N], y: f32[M, K], z: f32[M, N]) -> f32[M, N]:
    let placed = slice_scatter[N = N, M = K](x, y, 2, 1000, 1)
    return placed * z

rowwise next(x: f32[M, N]) -> f32[M, N]:
    return x.at(N = index(N) + 1, outside = 0)

rowwise behind(x: f32[M, N], y: f32[M, N], z: f32[M, N]) -> f32[M, N]:
    return x + next(y * z)

rowwise summed(x: f32[M, N], y: f32[M, N]) -> (f32[M, N], f32[M]):
    return x + y, sum(x over N)

rowwise changed(x: mut f32[M, N], y: f32[M, N]):
    x = x + y
)";

class InPlaceTest : public ::testing::Test {
protected:
  void SetUp() override {
    session =
        *Session::create({.threads = 2, .cacheDirectory = "-", .target = ""});
    auto compiled = session->compile(text, "kernels.qn");
    ASSERT_TRUE(compiled) << compiled.error().message;
    module = *compiled;
  }

  BoundKernel bound(const std::string &name, std::size_t inputs,
                    std::int64_t rows = 4) {
    sizes = {rows, rows};
    strides = {rows, 1};
    std::vector<Argument> arguments(
        inputs,
        TensorView{.data = nullptr, .sizes = sizes, .strides = strides});
    auto kernel = module.bind(name, arguments);
    EXPECT_TRUE(kernel) << kernel.error().message;
    return *kernel;
  }

  /// A digit an input: whether the first output may take its memory.
  std::string taken(const std::string &name, std::size_t inputs) {
    BoundKernel kernel = bound(name, inputs);
    std::string digits;
    for (std::size_t i = 0; i != inputs; ++i)
      digits += kernel.mayCoincide(inputs, i) ? '1' : '0';
    return digits;
  }

  std::shared_ptr<Session> session;
  Module module;
  std::vector<std::int64_t> sizes, strides;
};

TEST_F(InPlaceTest, WhatIsReadWhereTheResultLiesMayBeTaken) {
  EXPECT_EQ(taken("product", 2), "11");
  EXPECT_EQ(taken("own", 2), "11");
  EXPECT_EQ(taken("parts", 3), "101");
}

TEST_F(InPlaceTest, WhatIsReadElsewhereMayNot) {
  EXPECT_EQ(taken("shifted", 2), "01");
  EXPECT_EQ(taken("turned", 2), "10");
  EXPECT_EQ(taken("behind", 3), "100");
}

TEST_F(InPlaceTest, NorWhatIsReadByOtherLoops) {
  EXPECT_EQ(taken("reduced", 1), "0");
  EXPECT_EQ(taken("apart", 1), "0");
  EXPECT_EQ(taken("summed", 2), "00");
  EXPECT_FALSE(bound("changed", 2).mayCoincide(0, 1));
}

TEST_F(InPlaceTest, ResultsAreThoseOfMemoryOfTheirOwn) {
  for (std::int64_t rows : {1, 5, 16, 33, 257}) {
    std::size_t count = static_cast<std::size_t>(rows * rows);
    std::vector<float> x(count), y(count), first(count), second(count);
    std::iota(x.begin(), x.end(), 1.0f);
    std::iota(y.begin(), y.end(), -7.0f);
    BoundKernel kernel = bound("own", 2, rows);
    void *apart[] = {x.data(), y.data(), first.data(), second.data()};
    ASSERT_TRUE(kernel.run(apart));
    void *together[] = {x.data(), y.data(), y.data(), x.data()};
    ASSERT_TRUE(kernel.run(together));
    EXPECT_EQ(y, first);
    EXPECT_EQ(x, second);
  }
}

TEST_F(InPlaceTest, OtherMemoryIsStillRefused) {
  std::vector<float> x(16), y(16);
  void *together[] = {x.data(), y.data(), x.data()};
  auto ran = bound("shifted", 2).run(together);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().diagnostics[0].code, "QN2034");
}

} // namespace
