// From text to numbers through the public interface, and what wrong calls get.
#include "jit/Jit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <thread>

using namespace quern;

namespace {

constexpr const char *text = R"(
"""Kernels of these tests."""

elementwise axpy[T: Float](x: T, y: T, a: acc(T) = 2) -> T:
    return a * x + y

elementwise gate[T: Float](x: T) -> T:
    return x * sigmoid(x)

elementwise raise[T: Number](x: mut T, y: T):
    x = x + y

rowwise spread[T: Float](x: T[*R, C]) -> T[*R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)

rowwise product[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:
    return sum(a * b over K)

rowwise turned[T: Any](x: T[M, N]) -> T[N, M]:
    return x

fn plain(x: f32) -> f32:
    return x

rowwise windows(x: f32[R], k: int[2]) -> f32[R]:
    return x * f32(k[0] * k[1])

rowwise joined(xs: list[f32[C]]) -> f32[C]:
    return concat(xs over C)

rowwise padded(x: f32[*S], k: int[*S]) -> f32[*P = *S + k]:
    return x.at(*S = *index(P) - k, outside = 0)

rowwise grouped[T: Float](x: T[N, (G C)], w: T[G]) -> T[N, C]:
    return sum(x * w over G)
)";

/// A float tensor that owns its memory.
struct Tensor {
  explicit Tensor(std::vector<std::int64_t> given) : sizes(std::move(given)) {
    strides.resize(sizes.size());
    std::int64_t step = 1;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      strides[axis] = step;
      step *= sizes[axis];
    }
    data.resize(step);
    for (std::int64_t i = 0; i < step; ++i)
      data[i] = std::sin(static_cast<float>(i)) * 3;
  }
  TensorView view() {
    return {.data = data.data(), .sizes = sizes, .strides = strides};
  }
  std::vector<std::int64_t> sizes, strides;
  std::vector<float> data;
};

class SessionTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto made =
        Session::create({.threads = 2, .cacheDirectory = "-", .target = ""});
    ASSERT_TRUE(made);
    session = *made;
    auto compiled = session->compile(text, "kernels.qn");
    ASSERT_TRUE(compiled) << compiled.error().message;
    module = *compiled;
  }

  /// The code of the first diagnostic of a call that must fail.
  std::string fault(std::string_view name, std::vector<Argument> arguments,
                    std::vector<TensorView> outs = {}) {
    auto bound = module.bind(name, arguments, outs);
    EXPECT_FALSE(bound) << name;
    if (bound)
      return "";
    EXPECT_FALSE(bound.error().diagnostics.empty());
    message = bound.error().message;
    return bound.error().diagnostics.front().code;
  }

  std::shared_ptr<Session> session;
  Module module;
  std::string message;
};

TEST_F(SessionTest, ElementwiseGivesTheReferencesNumbers) {
  for (std::int64_t size : {0, 1, 5, 16, 1000, 100'000}) {
    Tensor x({size}), out({size});
    auto bound = module.bind("gate", std::vector<Argument>{x.view()});
    ASSERT_TRUE(bound) << bound.error().message;
    ASSERT_EQ(bound->outputs().size(), 1u);
    EXPECT_EQ(bound->outputs()[0].sizes, x.sizes);
    void *pointers[] = {x.data.data(), out.data.data()};
    auto ran = bound->run(pointers);
    ASSERT_TRUE(ran) << ran.error().message;
    for (std::int64_t i = 0; i < size; ++i) {
      double v = x.data[i], expected = v / (1 + std::exp(-v));
      EXPECT_NEAR(out.data[i], expected, 1e-6) << i;
    }
  }
}

TEST_F(SessionTest, NumbersBroadcastAndScalarsHaveDefaults) {
  Tensor x({3, 1}), out({3, 4});
  Tensor y({4});
  auto bound = module.bind(
      "axpy", std::vector<Argument>{x.view(), y.view(), std::monostate()});
  ASSERT_TRUE(bound) << bound.error().message;
  void *pointers[] = {x.data.data(), y.data.data(), out.data.data()};
  ASSERT_TRUE(bound->run(pointers));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(out.data[i * 4 + j], 2 * x.data[i] + y.data[j]);
  auto shorter = module.bind("axpy", std::vector<Argument>{x.view(), y.view()});
  ASSERT_TRUE(shorter) << shorter.error().message;
  std::ranges::fill(out.data, 0.0f);
  ASSERT_TRUE(shorter->run(pointers));
  EXPECT_EQ(out.data[7], 2 * x.data[1] + y.data[3]);
  auto tooShort = module.bind("axpy", std::vector<Argument>{x.view()});
  ASSERT_FALSE(tooShort);
  EXPECT_NE(tooShort.error().message.find("takes 3 arguments, not 1"),
            std::string::npos);
  auto number = module.bind(
      "axpy", std::vector<Argument>{x.view(), 0.5, std::int64_t{3}});
  ASSERT_TRUE(number) << number.error().message;
  Tensor column({3, 1});
  void *fewer[] = {x.data.data(), column.data.data()};
  ASSERT_TRUE(number->run(fewer));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(column.data[i], 3 * x.data[i] + 0.5f);
}

TEST_F(SessionTest, StridedAndTransposedOperands) {
  Tensor x({6, 10}), out({10, 6});
  std::vector<std::int64_t> sizes{10, 6}, strides{1, 10};
  TensorView turned{.data = x.data.data(), .sizes = sizes, .strides = strides};
  auto bound = module.bind("axpy", std::vector<Argument>{turned, 1.0, 1.0});
  ASSERT_TRUE(bound) << bound.error().message;
  void *pointers[] = {x.data.data(), out.data.data()};
  ASSERT_TRUE(bound->run(pointers));
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 6; ++j)
      EXPECT_EQ(out.data[i * 6 + j], x.data[j * 10 + i] + 1);
}

TEST_F(SessionTest, RowsAndProducts) {
  Tensor x({2, 3, 37}), out({2, 3, 37});
  auto bound = module.bind("spread", std::vector<Argument>{x.view()});
  ASSERT_TRUE(bound) << bound.error().message;
  void *pointers[] = {x.data.data(), out.data.data()};
  ASSERT_TRUE(bound->run(pointers));
  for (int row = 0; row < 6; ++row) {
    double total = 0;
    for (int i = 0; i < 37; ++i)
      total += std::exp(static_cast<double>(x.data[row * 37 + i]));
    for (int i = 0; i < 37; ++i)
      EXPECT_NEAR(out.data[row * 37 + i],
                  std::exp(static_cast<double>(x.data[row * 37 + i])) / total,
                  1e-6);
  }
  Tensor a({5, 7}), b({7, 9}), c({5, 9});
  auto product =
      module.bind("product", std::vector<Argument>{a.view(), b.view()});
  ASSERT_TRUE(product) << product.error().message;
  void *matrices[] = {a.data.data(), b.data.data(), c.data.data()};
  ASSERT_TRUE(product->run(matrices));
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 9; ++j) {
      double sum = 0;
      for (int k = 0; k < 7; ++k)
        sum += static_cast<double>(a.data[i * 7 + k]) * b.data[k * 9 + j];
      EXPECT_NEAR(c.data[i * 9 + j], sum, 1e-4);
    }
}

TEST_F(SessionTest, WrongArgumentsAreNamed) {
  Tensor x({4}), y({5}), matrix({2, 3});
  EXPECT_EQ(fault("absent", {}), "QN2001");
  EXPECT_EQ(fault("gate", {}), "QN2004");
  EXPECT_EQ(fault("spread", {1.0}), "QN2005");
  EXPECT_EQ(fault("axpy", {x.view(), x.view(), x.view()}), "QN2006");
  EXPECT_EQ(fault("gate", {std::monostate()}), "QN2007");
  EXPECT_EQ(fault("axpy", {x.view(), y.view(), 1.0}), "QN2024");
  EXPECT_NE(message.find("[5]"), std::string::npos) << message;
  EXPECT_NE(message.find("[4]"), std::string::npos) << message;
  EXPECT_EQ(fault("product", {x.view(), matrix.view()}), "QN2020");
  EXPECT_EQ(fault("product", {matrix.view(), matrix.view()}), "QN2022");
  EXPECT_NE(message.find("`K` is 3 in `a` and 2 in `b`"), std::string::npos)
      << message;
  Tensor scalar({});
  EXPECT_EQ(fault("spread", {scalar.view()}), "QN2021");
  Tensor two({2});
  EXPECT_EQ(fault("grouped", {matrix.view(), two.view()}), "QN2025");
  TensorView integers = x.view();
  integers.type = DType::I32;
  EXPECT_EQ(fault("gate", {integers}), "QN2012");
  EXPECT_EQ(fault("axpy", {x.view(),
                           [&] {
                             TensorView wide = x.view();
                             wide.type = DType::F64;
                             return wide;
                           }(),
                           1.0}),
            "QN2011");
}

TEST_F(SessionTest, WrongListsOfNumbersAreNamed) {
  Tensor x({4});
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(fault("windows", {x.view(), Numbers{1, 2, 3}}), "QN2008");
  EXPECT_EQ(fault("padded", {x.view(), Numbers{1, 2}}), "QN2008");
  EXPECT_EQ(fault("plain", {1.0}), "QN2002");
  EXPECT_EQ(fault("joined", {x.view()}), "QN2006");
  EXPECT_EQ(fault("joined", {std::vector<TensorView>()}), "QN2014");
}

TEST_F(SessionTest, WrongOutputsAreNamedAndNothingIsWritten) {
  Tensor x({4}), out({4}), small({3});
  EXPECT_EQ(fault("gate", {x.view()}, {small.view()}), "QN2031");
  EXPECT_EQ(fault("gate", {x.view()}, {out.view(), out.view()}), "QN2030");
  TensorView locked = out.view();
  locked.writable = false;
  EXPECT_EQ(fault("gate", {x.view()}, {locked}), "QN2032");
  std::vector<std::int64_t> zero{0};
  TensorView same{.data = out.data.data(), .sizes = out.sizes, .strides = zero};
  EXPECT_EQ(fault("gate", {x.view()}, {same}), "QN2033");
  std::vector<std::int64_t> three{3}, one{1};
  TensorView first{.data = x.data.data(), .sizes = three, .strides = one};
  TensorView shifted{.data = x.data.data() + 1, .sizes = three, .strides = one};
  EXPECT_EQ(fault("gate", {first}, {shifted}), "QN2034");
  EXPECT_EQ(fault("raise", {locked, x.view()}), "QN2032");
}

TEST_F(SessionTest, OverlapIsFoundWhenRunningToo) {
  Tensor x({8});
  std::vector<float> before = x.data;
  std::vector<std::int64_t> seven{7}, one{1};
  TensorView shape{.data = nullptr, .sizes = seven, .strides = one};
  auto bound = module.bind("gate", std::vector<Argument>{shape});
  ASSERT_TRUE(bound) << bound.error().message;
  void *shifted[] = {x.data.data(), x.data.data() + 1};
  auto ran = bound->run(shifted);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().diagnostics[0].code, "QN2034");
  EXPECT_EQ(x.data, before);
  void *missing[] = {x.data.data()};
  EXPECT_EQ(bound->run(missing).error().diagnostics[0].code, "QN2052");
  void *null[] = {x.data.data(), nullptr};
  EXPECT_EQ(bound->run(null).error().diagnostics[0].code, "QN2053");
  // The same element read and written is fine.
  void *inPlace[] = {x.data.data(), x.data.data()};
  ASSERT_TRUE(bound->run(inPlace));
  EXPECT_NEAR(x.data[1], before[1] / (1 + std::exp(-before[1])), 1e-6);
}

TEST_F(SessionTest, InterleavedViewsDoNotOverlap) {
  Tensor x({8});
  std::vector<float> before = x.data;
  std::vector<std::int64_t> four{4}, two{2};
  TensorView even{.data = x.data.data(), .sizes = four, .strides = two};
  TensorView odd{.data = x.data.data() + 1, .sizes = four, .strides = two};
  auto bound = module.bind("gate", std::vector<Argument>{even},
                           std::vector<TensorView>{odd});
  ASSERT_TRUE(bound) << bound.error().message;
  void *pointers[] = {even.data, odd.data};
  ASSERT_TRUE(bound->run(pointers));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(x.data[2 * i], before[2 * i]);
    EXPECT_NEAR(x.data[2 * i + 1],
                before[2 * i] / (1 + std::exp(-before[2 * i])), 1e-6);
  }
}

TEST_F(SessionTest, EqualRequestsCompileOnceAndOthersInParallel) {
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      Tensor x({32});
      auto bound = module.bind(thread % 2 ? "gate" : "spread",
                               std::vector<Argument>{x.view()});
      bad += !bound || !bound->ready();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(bad.load(), 0);
  EXPECT_EQ(session->counters().compiles, 2);
}

TEST_F(SessionTest, ShapesOfOneClassShareTheirCode) {
  for (std::int64_t size : {7, 64, 1000})
    for (bool matrix : {false, true}) {
      Tensor x(matrix ? std::vector<std::int64_t>{size, 3}
                      : std::vector<std::int64_t>{size});
      auto bound = module.bind("gate", std::vector<Argument>{x.view()});
      ASSERT_TRUE(bound && bound->ready());
    }
  EXPECT_EQ(session->counters().compiles, 1);
}

TEST_F(SessionTest, AKernelOutlivesItsSession) {
  Tensor x({4}), out({4});
  auto bound = module.bind("gate", std::vector<Argument>{x.view()});
  ASSERT_TRUE(bound);
  module = Module();
  session.reset();
  void *pointers[] = {x.data.data(), out.data.data()};
  EXPECT_TRUE(bound->run(pointers));
}

/// Pages of files that this process has mapped and touched, in KiB.
long residentOfFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssFile:", 0) == 0)
      return std::stol(line.substr(8));
  return 0;
}

/// 2x + y on the small numbers 1 and 3.
void expectAxpy(const Module &module) {
  Tensor x({4}), y({4}), out({4});
  std::ranges::fill(x.data, 1.0F);
  std::ranges::fill(y.data, 3.0F);
  auto bound = module.bind("axpy", std::vector<Argument>{x.view(), y.view()});
  ASSERT_TRUE(bound);
  void *pointers[] = {x.data.data(), y.data.data(), out.data.data()};
  ASSERT_TRUE(bound->run(pointers));
  EXPECT_EQ(out.data, std::vector<float>(4, 5.0F));
}

TEST_F(SessionTest, TheCompilersOwnCodeIsGivenBackAndComesAgain) {
  expectAxpy(module);
  long before = residentOfFiles();
  Session::giveBackMemory();
  EXPECT_LT(residentOfFiles(), before - (16 << 10));
  expectAxpy(module);
  auto another = Session::create({.cacheDirectory = "-", .target = ""});
  ASSERT_TRUE(another);
  auto again = (*another)->compile(text, "test.qn");
  ASSERT_TRUE(again);
  expectAxpy(*again);
}

TEST_F(SessionTest, CodeIsGivenBackWhileOthersCompile) {
  std::atomic<bool> done = false;
  std::thread giver([&] {
    while (!done)
      Session::giveBackMemory();
  });
  for (int round = 0; round < 3; ++round) {
    auto another = Session::create({.cacheDirectory = "-", .target = ""});
    ASSERT_TRUE(another);
    auto made = (*another)->compile(text, "test.qn");
    ASSERT_TRUE(made);
    expectAxpy(*made);
  }
  done = true;
  giver.join();
}

TEST_F(SessionTest, TheMachineIsThatOfItsTarget) {
  for (auto [name, bytes, tiles] : {std::tuple("x86-64-v2", 16U, false),
                                    std::tuple("x86-64-v3", 32U, false),
                                    std::tuple("sapphirerapids", 64U, true)}) {
    auto other = Session::create({.cacheDirectory = "-", .target = name});
    ASSERT_TRUE(other) << name;
    auto machine = (*other)->machine();
    ASSERT_TRUE(machine) << name;
    EXPECT_EQ(machine->vectorBytes, bytes) << name;
    EXPECT_EQ(machine->hasTiles, tiles) << name;
  }
}

TEST_F(SessionTest, ATextWithAnErrorIsRefused) {
  auto wrong = session->compile("elementwise f(x: f32) -> f32:\n  return y\n",
                                "wrong.qn");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().diagnostics[0].file, "wrong.qn");
  EXPECT_EQ(wrong.error().diagnostics[0].line, 2);
}

} // namespace
