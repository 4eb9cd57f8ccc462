// The catalogue, places, rendering and their odd cases.
#include "frontend/diagnostics/Render.h"
#include "test/frontend/Parsed.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::test;

static std::string text(Parsed &parsed, bool color = false) {
  std::string result;
  llvm::raw_string_ostream out(result);
  out.enable_colors(color);
  renderText(parsed.diagnostics, parsed.sources, out, color);
  return result;
}

TEST(Diagnostics, WordingOfTheCatalogue) {
  for (const DiagnosticInfo &info : diagnosticCatalogue()) {
    llvm::StringRef text = info.text;
    EXPECT_FALSE(text.empty());
    EXPECT_FALSE(text.ends_with(".")) << text.str();
    bool isProperNoun = text.starts_with("ATen ");
    EXPECT_FALSE(llvm::isUpper(text.front()) && !isProperNoun) << text.str();
  }
}

TEST(Diagnostics, LinesAndColumnsCountFromOne) {
  SourceManager sources;
  const SourceFile *first = sources.add("a.qn", "ab\ncd");
  const SourceFile *second = sources.add("b.qn", "\n\nx");
  SourceLocation place = sources.locate(first->beginOffset() + 4);
  EXPECT_EQ(place.file, first);
  EXPECT_EQ(place.line, 2u);
  EXPECT_EQ(place.column, 2u);
  place = sources.locate(second->endOffset());
  EXPECT_EQ(place.file, second);
  EXPECT_EQ(place.line, 3u);
  EXPECT_EQ(place.column, 2u);
  EXPECT_EQ(sources.locate(0).file, nullptr);
}

TEST(Diagnostics, ArgumentsFillPlaceholders) {
  DiagnosticEngine engine;
  engine.report({}, diag::MismatchedClose, "]", "(");
  engine.report({}, diag::CompoundTupleAssignment, "+=", 2);
  EXPECT_EQ(engine.diagnostics()[0].message, "`]` closes `(`");
  EXPECT_EQ(engine.diagnostics()[1].message, "`+=` takes one target, found 2");
}

TEST(Diagnostics, LimitCountsWhatItDrops) {
  DiagnosticEngine engine(2);
  for (int i = 0; i < 5; ++i)
    engine.report({}, diag::NulByte).hint("kept for the first two");
  EXPECT_EQ(engine.diagnostics().size(), 2u);
  EXPECT_EQ(engine.errorCount(), 5u);
  EXPECT_EQ(engine.suppressedCount(), 3u);
}

TEST(Diagnostics, CaretsStandUnderWideAndTabbedText) {
  Parsed parsed("fn f(x: f32) -> f32:\n\treturn \"漢\" +\n");
  EXPECT_NE(text(parsed).find("2 |     return \"漢\" +\n"
                              "  |                  ^\n"),
            std::string::npos)
      << text(parsed);
}

TEST(Diagnostics, LongLinesAreCut) {
  Parsed parsed(returning(repeated("x + ", 900) + "$"));
  std::string rendered = text(parsed);
  EXPECT_LT(rendered.size(), 1000u);
  EXPECT_NE(rendered.find("^"), std::string::npos);
}

TEST(Diagnostics, ColourIsAskedFor) {
  Parsed parsed(returning("x +"));
  EXPECT_EQ(text(parsed, false).find('\033'), std::string::npos);
  EXPECT_NE(text(parsed, true).find('\033'), std::string::npos);
}

TEST(Diagnostics, ControlCharactersDoNotReachTheTerminal) {
  Parsed parsed("fn f(x: f32) -> f32: return \"\033[2J\" +\n");
  EXPECT_EQ(text(parsed).find('\033'), std::string::npos);
}

TEST(Diagnostics, JsonAndSarifAreJson) {
  Parsed parsed(returning("(x + é]"));
  std::string json, sarif;
  llvm::raw_string_ostream jsonOut(json), sarifOut(sarif);
  renderJson(parsed.diagnostics, parsed.sources, jsonOut);
  renderSarif(parsed.diagnostics, parsed.sources, sarifOut);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(json).split(lines, '\n', -1, false);
  EXPECT_EQ(lines.size(), 2u);
  for (llvm::StringRef line : lines)
    EXPECT_TRUE(static_cast<bool>(llvm::json::parse(line))) << line.str();
  EXPECT_TRUE(static_cast<bool>(llvm::json::parse(sarif)));
}
