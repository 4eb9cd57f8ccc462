// Syntax trees: shapes that lit dumps do not show, recovery, limits.
#include "test/frontend/Parsed.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace quern;
using namespace quern::ast;
using namespace quern::test;

namespace {

/// The expression that the first function of the module returns.
const Expr *returned(const Parsed &parsed) {
  const auto *decl =
      llvm::cast<CallableDecl>(parsed.module->declarations.front());
  return llvm::cast<ReturnStmt>(decl->body.statements.front())->value;
}

double floatValue(const std::string &text) {
  Parsed parsed(returning(text));
  EXPECT_FALSE(parsed.diagnostics.hasErrors()) << text;
  return llvm::cast<FloatExpr>(returned(parsed))->value;
}

std::uint64_t intValue(const std::string &text) {
  Parsed parsed(returning(text));
  EXPECT_FALSE(parsed.diagnostics.hasErrors()) << text;
  return llvm::cast<IntExpr>(returned(parsed))->value;
}

} // namespace

TEST(Parser, Integers) {
  EXPECT_EQ(intValue("0"), 0u);
  EXPECT_EQ(intValue("1_000"), 1000u);
  EXPECT_EQ(intValue("0xFF"), 255u);
  EXPECT_EQ(intValue("0b1010"), 10u);
  EXPECT_EQ(intValue("0o17"), 15u);
  EXPECT_EQ(intValue("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(Parsed(returning("18446744073709551616")).codes(), Codes{"QN0010"});
}

TEST(Parser, FloatsAreRoundedOnce) {
  EXPECT_EQ(floatValue("1.5"), 1.5);
  EXPECT_EQ(floatValue(".5"), 0.5);
  EXPECT_EQ(floatValue("2."), 2.0);
  EXPECT_EQ(floatValue("1e-3"), 1e-3);
  EXPECT_EQ(floatValue("1_000.25"), 1000.25);
  EXPECT_EQ(floatValue("0x1.8p3"), 12.0);
  EXPECT_EQ(floatValue("0x1.fffffffffffffp1023"), 0x1.fffffffffffffp1023);
  EXPECT_EQ(floatValue("5e-324"), 0x1p-1074);
  EXPECT_EQ(floatValue("1e-400"), 0.0);
  EXPECT_TRUE(std::isinf(floatValue("inf")));
  EXPECT_TRUE(std::isnan(floatValue("nan")));
  EXPECT_EQ(Parsed(returning("1e309")).codes(), Codes{"QN0011"});
}

TEST(Parser, StringsLoseTheirEscapes) {
  Parsed parsed(returning(R"("a\n\"b\\")"));
  EXPECT_EQ(llvm::cast<StringExpr>(returned(parsed))->value, "a\n\"b\\");
}

TEST(Parser, SpansAreTheText) {
  Parsed parsed(returning("g(x + 1).y"));
  const auto *member = llvm::cast<MemberExpr>(returned(parsed));
  EXPECT_EQ(parsed.file->text(member->span), "g(x + 1).y");
  const auto *call = llvm::cast<CallExpr>(member->base);
  EXPECT_EQ(parsed.file->text(call->span), "g(x + 1)");
  EXPECT_EQ(parsed.file->text(call->arguments[0].value->span), "x + 1");
  const Decl *decl = parsed.module->declarations.front();
  EXPECT_EQ(parsed.file->text(decl->span).rtrim(), parsed.file->text().rtrim());
}

TEST(Parser, OverKnowsItsOperands) {
  Parsed parsed(returning("scan(sum, x over C, reverse)"));
  const auto *call = llvm::cast<CallExpr>(returned(parsed));
  ASSERT_NE(call->over, nullptr);
  EXPECT_EQ(call->over->operandCount, 2u);
  EXPECT_EQ(call->arguments.size(), 3u);
}

TEST(Parser, OneLineForms) {
  Parsed parsed("reduction r[T: Float]:\n    state: T = 0\n"
                "    step(s, x: T): s + x\n    merge(a, b): (a, b)\n");
  const auto *decl =
      llvm::cast<ReductionDecl>(parsed.module->declarations.front());
  EXPECT_TRUE(decl->step->body.isInline);
  EXPECT_FALSE(decl->stateIsTuple);
  EXPECT_EQ(decl->finish, nullptr);
  EXPECT_EQ(parsed.codes(), Codes{});
}

TEST(Parser, DeclarationsWithMistakesSayIt) {
  Parsed parsed("fn f(x: f32) -> f32:\n    return x +\n\n"
                "fn g(x: f32) -> f32:\n    return x\n");
  ASSERT_EQ(parsed.module->declarations.size(), 2u);
  EXPECT_TRUE(parsed.module->declarations[0]->hasError);
  EXPECT_FALSE(parsed.module->declarations[1]->hasError);
}

TEST(Parser, KeywordsAreFreeBehindADot) {
  EXPECT_EQ(Parsed("@from(\"a.py\", 1)\nfn f(x: f32) -> f32:\n"
                   "    return x.match + g(in = x)\n")
                .codes(),
            Codes{});
}

TEST(Parser, ForgottenIndentationIsOneError) {
  EXPECT_EQ(Parsed("fn f(x: f32) -> f32:\nlet y = x\nreturn y\n\n"
                   "fn g(x: f32) -> f32:\n    return x\n")
                .codes(),
            Codes{"QN0107"});
}

TEST(Parser, TreesHaveALimitedHeight) {
  for (const char *link : {"-", "not ", "x + ", "x < y and ", "x if x else "}) {
    Parsed parsed(returning(repeated(link, 100000) + "x"));
    EXPECT_EQ(parsed.codes(), Codes{"QN0017"}) << link;
  }
  for (const char *link : {".a", "[0]", "(0)", "[N](0)"}) {
    Parsed parsed(returning("x" + repeated(link, 100000)));
    EXPECT_EQ(parsed.codes(), Codes{"QN0017"}) << link;
  }
}

TEST(Parser, TypesHaveALimitedHeight) {
  for (const char *link : {"mut ", "fn() -> "}) {
    Parsed parsed("fn f(x: " + repeated(link, 100000) + "f32) -> f32:\n" +
                  "    return x\n");
    EXPECT_EQ(parsed.codes(), Codes{"QN0017"}) << link;
  }
}

TEST(Parser, BlocksHaveALimitedDepth) {
  std::string text = "fn f(x: f32) -> f32:\n";
  for (unsigned i = 1; i < 1000; ++i)
    text += std::string(i, ' ') + "if x:\n";
  EXPECT_EQ(Parsed(text + std::string(1000, ' ') + "return x\n").codes(),
            Codes{"QN0017"});
}

TEST(Parser, WideTextsAreFine) {
  EXPECT_EQ(Parsed(returning("(" + repeated("x, ", 60000) + "x)")).codes(),
            Codes{});
  std::string chain = "fn f(x: f32) -> f32:\n    if x:\n        return 1\n" +
                      repeated("    elif x:\n        return 1\n", 20000);
  EXPECT_EQ(Parsed(chain).codes(), Codes{});
}

TEST(Parser, ManyErrorsStopAtTheLimit) {
  Parsed parsed(repeated("let = = 3\n", 150000));
  EXPECT_EQ(parsed.diagnostics.diagnostics().size(), 100u);
  EXPECT_TRUE(parsed.diagnostics.limitReached());
}
