// The checker through its facade: modules, names, typed bodies, constants.
#include "frontend/check/Check.h"
#include "frontend/Frontend.h"
#include "frontend/typed/ConstantValue.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>
#include <map>

using namespace quern;

namespace {

/// A text checked against a library of two small modules.
class Checked {
public:
  explicit Checked(llvm::StringRef text)
      : library(sources, [this](llvm::StringRef name) { return find(name); },
                {"tiny"}) {
    texts["tiny"] = "reduction sum[T: Number]:\n"
                    "    state: acc(T) = 0\n"
                    "    step(s, x: T): s + acc(T)(x)\n"
                    "    merge(a, b): a + b\n";
    texts["gates"] = "fn gate(x: f32) -> f32:\n    return x / (1 + x)\n";
    auto tree = parse(*sources.add("test.qn", text), diagnostics);
    module = library.check(*tree, "test", diagnostics);
  }

  std::vector<std::string> codes() {
    diagnostics.sort();
    std::vector<std::string> result;
    for (const SourceDiagnostic &one : diagnostics.diagnostics())
      result.push_back(one.code());
    return result;
  }
  std::string dump(llvm::StringRef name) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    print(*module->find(name), out);
    return text;
  }

  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::map<std::string, std::string> texts;
  int loads = 0;
  ModuleLibrary library;
  std::shared_ptr<const typed::TypedModule> module;

private:
  std::optional<ModuleText> find(llvm::StringRef name) {
    ++loads;
    auto found = texts.find(name.str());
    if (found == texts.end())
      return std::nullopt;
    return ModuleText{found->first + ".qn", found->second};
  }
};

using Codes = std::vector<std::string>;

TEST(Check, PreludeNeedsNoImport) {
  Checked checked("rowwise f(x: f16[R, C]) -> f16[R]:\n"
                  "    return sum(x over C)\n");
  EXPECT_EQ(checked.codes(), Codes{});
  EXPECT_NE(checked.dump("f").find("sum[f16](x over C)"), std::string::npos);
}

TEST(Check, ModulesAreLoadedOnce) {
  Checked checked("from gates use gate\n\n"
                  "fn f(x: f32) -> f32:\n    return gate(gate(x))\n");
  EXPECT_EQ(checked.codes(), Codes{});
  int before = checked.loads;
  EXPECT_TRUE(checked.library.load("gates", checked.diagnostics));
  EXPECT_EQ(checked.loads, before);
}

TEST(Check, LibrariesShareWhatTheirBaseChecked) {
  Checked base("from gates use gate\n\n"
               "fn f(x: f32) -> f32:\n    return gate(x)\n");
  int before = base.loads;
  int beside = 0;
  auto find = [&](llvm::StringRef name) -> std::optional<ModuleText> {
    ++beside;
    if (name != "own")
      return std::nullopt;
    return ModuleText{"own.qn", "fn twice(x: f32) -> f32:\n"
                                "    return x + x\n"};
  };
  llvm::StringRef text = "from gates use gate\nfrom own use twice\n\n"
                         "rowwise f(x: f32[R, C]) -> f32[R]:\n"
                         "    return sum(gate(twice(x)) over C)\n";
  const SourceFile *file = base.sources.add("user.qn", text);
  for (int i = 0; i < 2; ++i) {
    auto tree = parse(*file, base.diagnostics);
    auto module = ModuleLibrary(base.library, find)
                      .check(*tree, "user", base.diagnostics);
    EXPECT_EQ(module->uses()[0], base.module->uses()[0]);
  }
  EXPECT_EQ(base.codes(), Codes{});
  EXPECT_EQ(beside, 2); // `own` goes with the library that loaded it
  EXPECT_EQ(base.loads, before + 2); // asked for `own` in vain
}

TEST(Check, OwnFunctionHidesNoReduction) {
  Checked checked("fn sum(x: f32, y: f32) -> f32:\n    return x + y\n\n"
                  "rowwise f(x: f32[R, C]) -> f32[R]:\n"
                  "    return sum(sum(x over C), 1)\n");
  EXPECT_EQ(checked.codes(), Codes{});
  EXPECT_EQ(checked.module->find("sum")->kind,
            typed::DeclarationKind::Function);
  EXPECT_EQ(checked.module->findReduction("sum"), nullptr);
}

// Calls are inlined: who calls what has an error cannot be compiled either.
TEST(Check, CallersOfErrorsAreMarkedNotBlamed) {
  Checked checked("fn bad(x: f32) -> f32:\n    return y\n\n"
                  "fn good(x: f32) -> f32:\n    return bad(x)\n");
  EXPECT_EQ(checked.codes(), Codes{"QN1000"});
  EXPECT_TRUE(checked.module->find("bad")->hasError);
  EXPECT_TRUE(checked.module->find("good")->hasError);
}

TEST(Check, WrongSignatureBlamesNoCaller) {
  Checked checked("fn bad(x: f23) -> f32:\n    return x\n\n"
                  "fn caller(x: f32) -> f32:\n    return bad(x)\n");
  EXPECT_EQ(checked.codes(), Codes{"QN1100"});
}

TEST(Check, TypesAndAccumulatorsMixInLiftedTextOnly) {
  Checked lifted("rowwise f[T: Float](x: T[R, C]) -> T[R, C]:\n"
                 "    return x - sum(x over C)\n");
  EXPECT_EQ(lifted.codes(), Codes{});
  Checked scalar("fn f[T: Float](x: T, s: acc(T)) -> T:\n"
                 "    return x - s\n");
  EXPECT_EQ(scalar.codes(), Codes{"QN1102"});
}

TEST(Check, VariablesGrowAxesBehindTheirUse) {
  Checked checked("rowwise f(x: f32[R, C]) -> f32[R, C]:\n"
                  "    var a = 0.0\n"
                  "    var b = 0.0\n"
                  "    for i in range(2):\n"
                  "        a = b\n"
                  "        b = x\n"
                  "    return a\n");
  EXPECT_EQ(checked.codes(), Codes{});
  EXPECT_NE(checked.dump("f").find("var a: f32 {R, C}"), std::string::npos);
}

TEST(Check, SuggestsNearNames) {
  Checked checked("fn gamma(value: f32) -> f32:\n    return valuee\n");
  checked.diagnostics.sort();
  ASSERT_EQ(checked.codes(), Codes{"QN1000"});
  EXPECT_EQ(checked.diagnostics.diagnostics()[0].hint, "did you mean `value`?");
}

TEST(ConstantValue, WaitsForParameters) {
  Checked checked("fn f[N: int](x: f32) -> f32:\n"
                  "    return x if const N * 2 > 6 else -x\n");
  ASSERT_EQ(checked.codes(), Codes{});
  const typed::Declaration &f = *checked.module->find("f");
  const auto *ret = llvm::cast<typed::ReturnStatement>(f.body.front());
  const auto *select = llvm::cast<typed::SelectExpression>(ret->values.front());
  EXPECT_FALSE(evaluateConstant(*select->condition, {}));
  typed::ConstantEnvironment environment;
  environment.parameter = [](unsigned, unsigned) {
    return std::optional(typed::Constant::ofInteger(4));
  };
  auto known = evaluateConstant(*select->condition, environment);
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->boolean);
}

} // namespace
