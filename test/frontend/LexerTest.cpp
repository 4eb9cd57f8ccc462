// Tokens: numbers, layout, brackets that do not match.
#include "test/frontend/Parsed.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::test;

namespace {

struct Lexed {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  TokenBuffer tokens;
  explicit Lexed(llvm::StringRef text)
      : tokens(lex(*sources.add("test.qn", text), diagnostics)) {}

  std::string kinds() const {
    std::string result;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      result += (i ? " " : "") + nameOf(tokens.kind(i)).str();
    return result;
  }
};

} // namespace

TEST(Lexer, EmptyTextIsOnlyItsEnd) {
  for (const char *text : {"", "\n", "   \n\t\n", "# comment", "\xEF\xBB\xBF"})
    EXPECT_EQ(Lexed(text).kinds(), "EndOfFile") << text;
}

TEST(Lexer, EveryKeywordIsKnown) {
#define QN_TOKEN(name, description)
#define QN_PUNCTUATION(name, spelling)
#define QN_KEYWORD(name, spelling)                                             \
  EXPECT_EQ(Lexed(spelling).tokens.kind(0), TokenKind::name);                  \
  EXPECT_EQ(Lexed(spelling "x").tokens.kind(0), TokenKind::Identifier);        \
  EXPECT_EQ(Lexed("x" spelling).tokens.kind(0), TokenKind::Identifier);
#include "frontend/lex/Tokens.def"
}

TEST(Lexer, EveryOperatorIsKnown) {
#define QN_TOKEN(name, description)
#define QN_KEYWORD(name, spelling)
#define QN_PUNCTUATION(name, spelling)                                         \
  if (std::string_view(")]}{").find(spelling) == std::string_view::npos)       \
    EXPECT_EQ(Lexed(spelling).tokens.kind(0), TokenKind::name) << spelling;
#include "frontend/lex/Tokens.def"
}

TEST(Lexer, LinesWithinBracketsAreOne) {
  EXPECT_EQ(Lexed("(a,\n\n  # comment\n b)\n").kinds(),
            "LeftParen Identifier Comma Identifier RightParen Newline "
            "EndOfFile");
}

TEST(Lexer, BlocksAreBalanced) {
  EXPECT_EQ(Lexed("a\n  b\n    c\nd\n").kinds(),
            "Identifier Newline Indent Identifier Newline Indent Identifier "
            "Newline Dedent Dedent Identifier Newline EndOfFile");
  EXPECT_EQ(Lexed("a\n  b").kinds(),
            "Identifier Newline Indent Identifier Newline Dedent EndOfFile");
}

TEST(Lexer, BracketsAreBalancedWhateverTheText) {
  for (const char *text :
       {"(a\nlet b = 1\n", "(a]\n", "a)\n", "((a\n", "[(}"}) {
    Lexed lexed(text);
    int depth = 0;
    for (std::size_t i = 0; i < lexed.tokens.size(); ++i) {
      TokenKind kind = lexed.tokens.kind(i);
      depth += kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket ||
               kind == TokenKind::LeftBrace;
      depth -= kind == TokenKind::RightParen ||
               kind == TokenKind::RightBracket || kind == TokenKind::RightBrace;
      EXPECT_GE(depth, 0) << text;
    }
    EXPECT_EQ(depth, 0) << text;
    EXPECT_TRUE(lexed.diagnostics.hasErrors()) << text;
  }
}

TEST(Lexer, CommentsAreKeptAside) {
  Lexed lexed("a  # one\r\n# two\nb \"# no\"");
  ASSERT_EQ(lexed.tokens.comments().size(), 2u);
  EXPECT_EQ(lexed.tokens.file().text(lexed.tokens.comments()[0]), "# one");
  EXPECT_EQ(lexed.tokens.file().text(lexed.tokens.comments()[1]), "# two");
}

TEST(Lexer, SpansCoverTheText) {
  Lexed lexed("let größe = 1");
  EXPECT_EQ(lexed.tokens.text(0), "let");
  EXPECT_EQ(lexed.tokens.text(1), "größe");
  EXPECT_EQ(lexed.tokens.text(3), "1");
  EXPECT_EQ(lexed.diagnostics.errorCount(), 1u);
}

TEST(Lexer, NumbersThatAreNone) {
  for (const char *text :
       {"12ab", "0x", "0xG", "0b12", "0o8", "1e", "1e+", "0x1.8", "1_", "0x1p"})
    EXPECT_EQ(Parsed(returning(text)).codes(), Codes{"QN0009"}) << text;
}

TEST(Lexer, TextThatIsNoneGetsOneError) {
  EXPECT_EQ(Parsed(llvm::StringRef("fn\0(", 4)).codes(), Codes{"QN0002"});
  EXPECT_EQ(Parsed("fn \xFF\xFE = (").codes(), Codes{"QN0001"});
  EXPECT_EQ(Parsed("# \xC3").codes(), Codes{"QN0001"});
  EXPECT_EQ(Parsed("# 12345678 \xED\xA0\x80").codes(), Codes{"QN0001"});
}

TEST(Lexer, NestingHasALimit) {
  EXPECT_EQ(
      Parsed(returning(repeated("(", 256) + "x" + repeated(")", 256))).codes(),
      Codes{});
  EXPECT_EQ(
      Parsed(returning(repeated("(", 257) + "x" + repeated(")", 257))).codes(),
      Codes{"QN0017"});
}
