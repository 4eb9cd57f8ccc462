// The executor with a compiler that stands in: pointers, order, lifetimes.
#include "backend-torch/run/Executor.h"
#include "test/backend-torch/GraphMaker.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

using namespace quern;
using namespace quern::testing;

namespace {

/// Extents for which the stand-in makes no code, or does not even bind.
constexpr std::int64_t extentWithoutCode = 13, extentNotBound = 17;
/// How often code was asked for.
std::atomic<int> asked = 0;

/// Adds up what it reads, element by element, for contiguous operands.
class AddingHandle : public LaunchHandle {
public:
  AddingHandle(std::size_t inputs, std::int64_t elements)
      : inputs(inputs), elements(elements) {}
  Result<std::monostate> ready(std::stop_token) override {
    ++asked;
    if (elements == extentWithoutCode)
      return Error{"no code", {}};
    return std::monostate();
  }
  Result<std::monostate> run(std::span<void *const> pointers,
                             void * /*stream*/) override {
    if (elements == extentWithoutCode)
      return Error{"no code", {}};
    auto *out = static_cast<float *>(pointers[inputs]);
    for (std::int64_t i = 0; i != elements; ++i) {
      float sum = 100;
      for (std::size_t k = 0; k != inputs; ++k)
        sum += static_cast<const float *>(pointers[k])[i];
      out[i] = sum;
    }
    return std::monostate();
  }

private:
  std::size_t inputs;
  std::int64_t elements;
};

class AddingModule : public CompiledModule {
public:
  Result<std::unique_ptr<LaunchHandle>>
  bind(std::string_view, std::span<const Argument> arguments,
       std::span<const TensorView> outputs,
       std::span<const std::pair<std::string, Argument>>) const override {
    std::int64_t elements = 1;
    for (std::int64_t extent : outputs[0].sizes)
      elements *= extent;
    if (elements == extentNotBound)
      return Error{"not bound", {}};
    return std::unique_ptr<LaunchHandle>(
        std::make_unique<AddingHandle>(arguments.size(), elements));
  }
};

class AddingCompiler : public Compiler {
public:
  Result<std::shared_ptr<const CompiledModule>>
  compile(const std::string &text, const std::string &,
          std::stop_token) override {
    if (text.find(refused) != std::string::npos)
      return Error{"refused", {}};
    std::shared_ptr<const CompiledModule> module =
        std::make_shared<AddingModule>();
    return module;
  }
  Result<std::shared_ptr<const CompiledModule>>
  library(const std::string &name) override {
    (void)name;
    return Error{"refused", {}};
  }
  Result<std::vector<OperatorRow>> operators() const override {
    return std::vector<OperatorRow>();
  }
  std::string refused = "nothing is called so";
};

class ExecutorTest : public ::testing::Test {
protected:
  std::unique_ptr<Executor> make(const std::vector<ValueId> &outputs,
                                 bool codeNow = true) {
    CompiledProgram program = compileGraph(
        maker.finish(outputs), std::make_shared<OperatorTable>(smallLibrary()),
        &compiler, {}, codeNow);
    return std::make_unique<Executor>(std::move(program),
                                      std::vector<c10::IValue>(), recorder,
                                      ExecutorOptions());
  }

  /// A product between two activations.
  ValueId productOfActivations() {
    std::vector<Size> sizes = {maker.size(2), maker.size(2)};
    ValueId x = maker.input(sizes);
    ValueId a = maker.call("aten::silu", {maker.tensor("self", x)}, sizes);
    ValueId b = maker.call(
        "aten::mm", {maker.tensor("self", a), maker.tensor("mat2", x)}, sizes);
    return maker.call("aten::silu", {maker.tensor("self", b)}, sizes);
  }

  GraphMaker maker;
  AddingCompiler compiler;
  Recorder recorder;
};

TEST_F(ExecutorTest, KernelsAndCallsAlternate) {
  auto executor = make({productOfActivations()});
  at::Tensor value = at::arange(4, at::kFloat).view({2, 2});
  at::Tensor result = executor->run({value})[0].toTensor();
  EXPECT_TRUE(at::equal(result, at::mm(value + 100, value) + 100));
  RunCounters counters = recorder.read();
  EXPECT_EQ(counters.launches, 2);
  EXPECT_EQ(counters.preferred.at("aten::mm"), 1);
  EXPECT_TRUE(counters.fallbacks.empty());
}

TEST_F(ExecutorTest, CodeOfAllKernelsIsMadeWhenItIsWanted) {
  asked = 0;
  auto executor = make({productOfActivations()}, /*codeNow=*/false);
  EXPECT_EQ(asked, 0);
  executor->makeCode();
  EXPECT_EQ(asked, 2);
}

TEST_F(ExecutorTest, TakesAsManyArgumentsAsItHasInputs) {
  std::vector<Size> sizes = {maker.size(2)};
  ValueId x = maker.input(sizes);
  auto executor =
      make({maker.call("aten::silu", {maker.tensor("self", x)}, sizes)});
  EXPECT_ANY_THROW(executor->run({}));
  EXPECT_ANY_THROW(executor->run({at::zeros(2), at::zeros(2)}));
}

TEST_F(ExecutorTest, ReadsThroughWindowsByTheirOffset) {
  ValueId x = maker.input({maker.size(3), maker.size(4)});
  ValueId row = maker.view("aten::select.int", x,
                           {maker.integer("dim", 0), maker.integer("index", 2)},
                           {maker.size(4)});
  std::get<TensorFacts>(maker.graph.values[row].facts).offset = maker.size(8);
  ValueId y =
      maker.call("aten::silu", {maker.tensor("self", row)}, {maker.size(4)});
  auto executor = make({y});
  EXPECT_EQ(executor->plan().steps.size(), 1u) << "the view needs no step";
  // An offset of the argument itself is not part of the promise.
  at::Tensor memory = at::arange(17, at::kFloat);
  at::Tensor value = memory.slice(0, 5).view({3, 4});
  at::Tensor result = executor->run({value})[0].toTensor();
  EXPECT_TRUE(at::equal(result, value.select(0, 2) + 100));
}

TEST_F(ExecutorTest, RefusedGroupGoesToATen) {
  compiler.refused = "silu";
  ValueId x = maker.input({maker.size(5)});
  ValueId y =
      maker.call("aten::silu", {maker.tensor("self", x)}, {maker.size(5)});
  auto executor = make({y});
  at::Tensor value = at::linspace(-2, 2, 5);
  EXPECT_TRUE(at::equal(executor->run({value})[0].toTensor(), at::silu(value)));
  ASSERT_EQ(executor->plan().fusion->opaque.size(), 1u);
  EXPECT_EQ(executor->plan().fusion->opaque[0].second.reason, "refused");
}

TEST_F(ExecutorTest, PartsAreCopiedIntoTheirPlaces) {
  ValueId x = maker.input({maker.size(2), maker.size(3)});
  ValueId y = maker.input({maker.size(1), maker.size(3)});
  ValueId z =
      maker.call("aten::cat",
                 {maker.tensors("tensors", {x, y, x}), maker.integer("dim", 0)},
                 {maker.size(5), maker.size(3)});
  auto executor = make({z});
  EXPECT_TRUE(executor->plan().fusion->opaque.empty());
  at::Tensor a = at::rand({2, 3}), b = at::rand({1, 3});
  EXPECT_TRUE(
      at::equal(executor->run({a, b})[0].toTensor(), at::cat({a, b, a}) + 100));
}

TEST_F(ExecutorTest, WhatIsMadeForAPlaceIsStoredThere) {
  ValueId x = maker.input({maker.size(6)});
  ValueId a =
      maker.call("aten::silu", {maker.tensor("self", x)}, {maker.size(6)});
  ValueId rows =
      maker.view("aten::view", a, {}, {maker.size(3), maker.size(2)});
  ValueId y = maker.input({maker.size(1), maker.size(2)});
  ValueId b = maker.call("aten::silu", {maker.tensor("self", y)},
                         {maker.size(1), maker.size(2)});
  ValueId z = maker.call(
      "aten::cat",
      {maker.tensors("tensors", {b, rows, y}), maker.integer("dim", 0)},
      {maker.size(5), maker.size(2)});
  auto executor = make({z});
  EXPECT_EQ(executor->plan().steps.size(), 3u) << print(executor->plan());
  at::Tensor p = at::rand({6}), q = at::rand({1, 2});
  at::Tensor wanted = at::cat({q, p.view({3, 2}), q}) + 100;
  EXPECT_TRUE(at::equal(executor->run({p, q})[0].toTensor(), wanted));
}

TEST_F(ExecutorTest, APlaceIsFilledByATenWhereItsKernelCannotBeMade) {
  Size n = maker.symbol("s0");
  ValueId x = maker.input({n, maker.size(1)}), y = maker.input({n});
  ValueId a =
      maker.call("aten::silu", {maker.tensor("self", x)}, {n, maker.size(1)});
  ValueId flat =
      maker.view("aten::view", a, {maker.integers("size", {-1})}, {n});
  ValueId b = maker.call("aten::silu", {maker.tensor("self", y)}, {n});
  ValueId z =
      maker.call("aten::cat",
                 {maker.tensors("tensors", {b, flat}), maker.integer("dim", 0)},
                 {maker.graph.sizes.multiply(maker.size(2), n)});
  auto executor = make({z});
  EXPECT_EQ(executor->plan().steps.size(), 2u) << print(executor->plan());
  for (std::int64_t extent : {2, 13}) {
    at::Tensor p = at::rand({extent, 1}), q = at::rand({extent});
    at::Tensor both = at::cat({q, p.view({extent})});
    EXPECT_TRUE(at::allclose(executor->run({p, q})[0].toTensor(),
                             extent == 2 ? both + 100 : at::silu(both)));
  }
}

TEST_F(ExecutorTest, WriteGoesToTheArgumentItself) {
  ValueId x = maker.input({maker.size(4)});
  ValueId y =
      maker.call("aten::silu", {maker.tensor("self", x)}, {maker.size(4)});
  maker.call("aten::copy_", {maker.tensor("self", x), maker.tensor("src", y)},
             {maker.size(4)});
  maker.last().mutates = true;
  auto executor = make({y});
  at::Tensor value = at::rand({4}), before = value.clone();
  executor->run({value});
  EXPECT_TRUE(at::equal(value, before + 100 + 100));
}

TEST_F(ExecutorTest, SymbolicSizesBindToTheArgument) {
  Size n = maker.symbol("s0");
  ValueId x = maker.input({n});
  ValueId y = maker.call("aten::silu", {maker.tensor("self", x)}, {n});
  auto executor = make({y});
  for (std::int64_t extent : {2, 7, 31}) {
    at::Tensor value = at::ones({extent});
    EXPECT_TRUE(at::equal(executor->run({value})[0].toTensor(), value + 100));
  }
}

TEST_F(ExecutorTest, KernelThatCannotBeMadeIsRunByATen) {
  Size n = maker.symbol("s0");
  ValueId x = maker.input({n, maker.size(1)});
  ValueId view = maker.view("aten::t", x, {}, {maker.size(1), n});
  ValueId a = maker.call("aten::silu", {maker.tensor("self", view)},
                         {maker.size(1), n});
  auto executor = make({a});
  for (std::int64_t extent : {2, 13, 17, 13, 2}) {
    at::Tensor value = at::ones({extent, 1});
    at::Tensor wanted = extent == 2 ? value + 100 : at::silu(value);
    at::Tensor result = executor->run({value})[0].toTensor();
    EXPECT_TRUE(at::allclose(result, wanted.t()));
  }
  RunCounters counters = recorder.read();
  EXPECT_EQ(counters.launches, 2);
  EXPECT_EQ(counters.fallbacks.at("aten::silu"), 3);
}

TEST_F(ExecutorTest, WrongStridesAreMadeRight) {
  ValueId x = maker.input({maker.size(3), maker.size(4)});
  ValueId y = maker.call("aten::silu", {maker.tensor("self", x)},
                         {maker.size(3), maker.size(4)});
  auto executor = make({y});
  at::Tensor value = at::arange(12, at::kFloat).view({4, 3}).t();
  EXPECT_TRUE(at::equal(executor->run({value})[0].toTensor(), value + 100));
}

/// What a call of the executor throws, or nothing.
std::string errorOf(const Executor &executor, const at::Tensor &value) {
  try {
    executor.run({value});
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

TEST_F(ExecutorTest, OtherTensorsThanTheTracedOnesAreRefused) {
  ValueId x = maker.input({maker.size(3), maker.size(4)});
  ValueId y = maker.call("aten::silu", {maker.tensor("self", x)},
                         {maker.size(3), maker.size(4)});
  auto executor = make({y});
  EXPECT_EQ(errorOf(*executor, at::zeros({3, 4})), "");
  EXPECT_NE(errorOf(*executor, at::zeros({3, 5}))
                .find("is float32[3, 5] on cpu, the graph was traced for "
                      "float32[3, 4] on cpu"),
            std::string::npos);
  for (const at::Tensor &other :
       {at::zeros({12}), at::zeros({4, 3}), at::zeros({3, 4}, at::kDouble),
        at::zeros({3, 4}).to_sparse(), at::Tensor()})
    EXPECT_NE(errorOf(*executor, other), "");
  at::Tensor shrunk = at::zeros({3, 4});
  shrunk.storage().unsafeGetStorageImpl()->set_nbytes(47);
  EXPECT_NE(errorOf(*executor, shrunk).find("smaller than the tensor"),
            std::string::npos);
}

TEST_F(ExecutorTest, AnOperatorThatGivesAnotherShapeIsNamed) {
  std::vector<Size> sizes = {maker.size(2), maker.size(2)};
  ValueId x = maker.input(sizes);
  ValueId product =
      maker.call("aten::mm", {maker.tensor("self", x), maker.tensor("mat2", x)},
                 {maker.size(2), maker.size(3)});
  maker.last().source = "model.py:12";
  ValueId y = maker.call("aten::silu", {maker.tensor("self", product)},
                         {maker.size(2), maker.size(3)});
  auto executor = make({y});
  EXPECT_EQ(errorOf(*executor, at::ones({2, 2})),
            "`aten::mm` (model.py:12) gave float32[2, 2] on cpu, the traced "
            "program assumes float32[2, 3] on cpu: incorrect fake kernel");
}

TEST_F(ExecutorTest, AssumptionsHoldInEveryCall) {
  Size n = maker.symbol("s0");
  ValueId x = maker.input({n});
  ValueId y = maker.call("aten::silu", {maker.tensor("self", x)}, {n});
  Size three = maker.size(3);
  Size holds = maker.graph.sizes.apply(SizeOp::LessEqual, {n, three});
  maker.graph.assumptions.push_back(
      {holds, {n, three}, "s0 <= 3", "too many", "model.py:7"});
  auto executor = make({y});
  EXPECT_EQ(errorOf(*executor, at::ones({3})), "");
  EXPECT_EQ(errorOf(*executor, at::ones({4})),
            "too many\nthe program was compiled for sizes with s0 <= 3, not 4 "
            "and 3 (model.py:7)");
}

TEST_F(ExecutorTest, ASizeIsAMultipleOfItsSymbol) {
  Size n = maker.symbol("s0");
  ValueId x = maker.input({maker.graph.sizes.multiply(maker.size(4), n)});
  ValueId y = maker.call("aten::silu", {maker.tensor("self", x)},
                         {maker.graph.sizes.multiply(maker.size(4), n)});
  auto executor = make({y});
  EXPECT_EQ(errorOf(*executor, at::ones({12})), "");
  EXPECT_NE(errorOf(*executor, at::ones({14})).find("traced for float32[12]"),
            std::string::npos);
}

TEST_F(ExecutorTest, ASizeThatNobodyBringsIsRefused) {
  Size n = maker.symbol("s0");
  ValueId x = maker.input({maker.size(2)});
  ValueId y = maker.call("aten::silu", {maker.tensor("self", x)}, {n});
  auto executor = make({y});
  EXPECT_NE(errorOf(*executor, at::ones({2})), "");
}

TEST_F(ExecutorTest, TwoThreadsRunOnePlan) {
  ValueId value = maker.input({maker.size(64)});
  for (int i = 0; i != 4; ++i) {
    value = maker.call("aten::silu", {maker.tensor("self", value)},
                       {maker.size(64)});
    value = maker.call("aten::neg", {maker.tensor("self", value)},
                       {maker.size(64)});
  }
  auto executor = make({value});
  auto work = [&](float start) {
    at::Tensor expected = at::full({64}, start);
    for (int i = 0; i != 4; ++i)
      expected = -(expected + 100);
    for (int i = 0; i != 200; ++i) {
      at::Tensor got = executor->run({at::full({64}, start)})[0].toTensor();
      ASSERT_TRUE(at::equal(got, expected));
    }
  };
  std::thread one(work, 1.0f), two(work, 2.0f);
  one.join();
  two.join();
}

} // namespace
