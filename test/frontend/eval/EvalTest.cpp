// The evaluator of typed modules: values worked out by hand.
#include "frontend/eval/Eval.h"

#include "frontend/Frontend.h"
#include "frontend/check/Check.h"

#include <gtest/gtest.h>

using namespace quern;
using eval::Argument;
using eval::Tensor;

namespace {

const char *prelude = R"(
reduction sum[T: Number]:
    state: acc(T) = 0
    step(s, x: T): s + acc(T)(x)
    merge(a, b): a + b

reduction norm[T: Float](p: acc(T) = 1):
    state: acc(T) = 0
    step(s, x: T): s + abs(acc(T)(x)) * p
    merge(a, b): a + b
)";

/// A text, and calls of its declarations on f32 tensors.
class Text {
public:
  explicit Text(llvm::StringRef text) : library(sources, find, {"prelude"}) {
    auto tree = parse(*sources.add("test.qn", text), diagnostics);
    module = library.check(*tree, "test", diagnostics);
  }

  /// The values of the one result, row after row, or the error alone.
  std::vector<float> call(llvm::StringRef name, std::vector<Argument> arguments,
                          std::vector<ElementType> types = {}) {
    eval::Invocation invocation;
    invocation.declaration = module->find(name);
    invocation.typeArguments = std::move(types);
    invocation.arguments = std::move(arguments);
    auto shapes = eval::resultShapes(invocation);
    if (auto *problem = std::get_if<std::string>(&shapes)) {
      error = *problem;
      return {};
    }
    auto &shape = std::get<0>(shapes).front();
    std::size_t count = 1;
    for (std::int64_t size : shape)
      count *= static_cast<std::size_t>(size);
    std::vector<float> result(count);
    invocation.results = {tensorOf(result, shape)};
    if (auto problem = eval::evaluate(invocation))
      error = *problem;
    return result;
  }

  static Tensor tensorOf(std::vector<float> &values,
                         std::vector<std::int64_t> sizes) {
    std::vector<std::int64_t> strides(sizes.size(), 1);
    for (std::size_t axis = sizes.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * sizes[axis];
    return {ElementType::F32, values.data(), sizes, strides};
  }

  std::string error;

private:
  static std::optional<ModuleText> find(llvm::StringRef name) {
    if (name != "prelude")
      return std::nullopt;
    return ModuleText{"prelude.qn", prelude};
  }

  SourceManager sources;
  DiagnosticEngine diagnostics;
  ModuleLibrary library;
  std::shared_ptr<const typed::TypedModule> module;
};

using Floats = std::vector<float>;

TEST(Eval, ElementwiseBroadcasts) {
  Text text("elementwise f(x: f32, y: f32) -> f32:\n    return x * y + 1\n");
  Floats x{1, 2, 3, 4}, y{10, 100};
  EXPECT_EQ(text.call("f", {Text::tensorOf(x, {2, 2}), Text::tensorOf(y, {2})}),
            (Floats{11, 201, 31, 401}));
}

TEST(Eval, ReductionsTakeTheirParameters) {
  Text text("rowwise f(x: f32[R, C]) -> f32[R]:\n"
            "    return norm(x, p = 2.0 over C) + norm(x over C)\n");
  Floats x{1, -2, 3, 4};
  EXPECT_EQ(text.call("f", {Text::tensorOf(x, {2, 2})}), (Floats{9, 21}));
}

TEST(Eval, ScansKeepTheAxis) {
  Text text("rowwise f(x: f32[C]) -> f32[C]:\n"
            "    return scan(sum, x over C, reverse, exclusive)\n");
  Floats x{1, 2, 4};
  EXPECT_EQ(text.call("f", {Text::tensorOf(x, {3})}), (Floats{6, 4, 0}));
}

TEST(Eval, SortsAreStable) {
  Text text("rowwise f(k: f32[C], x: f32[C]) -> f32[C]:\n"
            "    let (_, v) = sort_by(k, x over C)\n"
            "    return v + sort_by(k over C)\n");
  Floats k{2, 1, 2, 1}, x{10, 20, 30, 40};
  EXPECT_EQ(text.call("f", {Text::tensorOf(k, {4}), Text::tensorOf(x, {4})}),
            (Floats{21, 41, 12, 32}));
}

/// 0 and 2^62 are counted; 2^63 would be the next.
TEST(Eval, CountersEndWithTheirType) {
  const char *body = "    var s = x\n"
                     "    for i in range(0, 9223372036854775807, 1 << 62):\n"
                     "        s = s * 3 + f32(i // (1 << 62))\n"
                     "    return s\n";
  Text text((llvm::Twine("elementwise f(x: f32) -> f32:\n") + body +
             "rowwise g(x: f32[C]) -> f32[C]:\n" + body)
                .str());
  Floats x{1, 2};
  EXPECT_EQ(text.call("f", {Text::tensorOf(x, {2})}), (Floats{10, 19}));
  EXPECT_EQ(text.call("g", {Text::tensorOf(x, {2})}), (Floats{10, 19}));
  EXPECT_EQ(text.error, "");
}

TEST(Eval, APositionMayBeRequired) {
  Text text("rowwise f(i: f32[C], n: f32[K]) -> f32[K]:\n"
            "    return f32(require(int(n), C))\n");
  Floats i{0, 0}, good{1, 0}, bad{0, 2};
  EXPECT_EQ(text.call("f", {Text::tensorOf(i, {2}), Text::tensorOf(good, {2})}),
            (Floats{1, 0}));
  EXPECT_EQ(text.error, "");
  text.call("f", {Text::tensorOf(i, {2}), Text::tensorOf(bad, {2})});
  EXPECT_NE(text.error.find("index 2 of axis `C` of extent 2"),
            std::string::npos);
}

TEST(Eval, DefaultsStandInTheCallee) {
  Text text("fn g(x: f32, y: f32 = 5) -> f32:\n    return x + y\n\n"
            "elementwise f(x: f32) -> f32:\n    return g(x) * g(x, 1)\n");
  Floats x{1, 2};
  EXPECT_EQ(text.call("f", {Text::tensorOf(x, {2})}), (Floats{12, 21}));
}

TEST(Eval, APositionOutOfRangeIsAnError) {
  Text text("rowwise f(x: f32[C]) -> f32[C]:\n"
            "    return x.at(C = index(C) + 1)\n");
  Floats x{1, 2};
  text.call("f", {Text::tensorOf(x, {2})});
  EXPECT_NE(text.error.find("index 2 of axis `C`"), std::string::npos);
}

TEST(Eval, LocalAxesOfACall) {
  Text text("rowwise ranks(x: f32[*R, C]) -> f32[*R, C]:\n"
            "    return sum(f32(1) if x.at(C = j) < x else f32(0)"
            " over j: 0 .. size(C))\n\n"
            "rowwise f(x: f32[A]) -> f32[A]:\n"
            "    let least = sum(x over A)\n"
            "    return ranks[C = A](x) + 0 * least\n");
  Floats x{5, 7, 6};
  EXPECT_EQ(text.call("f", {Text::tensorOf(x, {3})}), (Floats{0, 2, 1}));
}

} // namespace
