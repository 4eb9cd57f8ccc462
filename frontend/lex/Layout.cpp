// Lines, indentation and brackets: what comes out is always balanced.
#include "frontend/lex/Characters.h"
#include "frontend/lex/Keywords.h"
#include "frontend/lex/LexerImpl.h"

using namespace quern;

/// A tab leads to the next multiple of four.
unsigned Lexer::columnsOf(const char *begin, const char *end) {
  unsigned column = 0;
  for (; begin != end; ++begin)
    column = *begin == '\t' ? (column / 4 + 1) * 4 : column + 1;
  return column;
}

/// False where the width says nothing: tabs and spaces are mixed.
bool Lexer::checkIndentationStyle(const char *begin, const char *end) {
  if (begin == end)
    return true;
  llvm::StringRef text(begin, end - begin);
  if (!indentStyle)
    indentStyle = *begin;
  std::size_t odd = text.find_if([&](char c) { return c != indentStyle; });
  if (odd == llvm::StringRef::npos)
    return true;
  if (std::exchange(reportedStyle, true))
    return false;
  diagnostics.report(spanOf(begin + odd, end), diag::MixedIndentation)
      .hint(indentStyle == ' ' ? "the lines above use spaces"
                               : "the lines above use tabs");
  return false;
}

/// A result type may begin the next line: `->` continues the line above.
bool Lexer::continuesSignature() const {
  return cursor[0] == '-' && cursor[1] == '>' && brackets.empty() &&
         tokens.lastKind() == TokenKind::Newline;
}

/// Measures the line's indentation unless the line is blank or a comment, or
/// brackets are open.
void Lexer::startLine() {
  const char *begin = cursor;
  while (*cursor == ' ' || *cursor == '\t')
    ++cursor;
  const char *end = cursor;
  bool blankLine =
      *cursor == '\n' || *cursor == '#' || *cursor == '\r' || atEnd();
  if (blankLine)
    return;
  if (continuesSignature())
    return tokens.tokens.pop_back();
  if (!brackets.empty()) {
    if (!startsStatement())
      return;
    closeForgottenBrackets();
  }
  unsigned column = columnsOf(begin, end);
  if (!checkIndentationStyle(begin, end) && !opensBlock())
    column = std::min(column, indentation.empty() ? 0 : indentation.back());
  applyIndentation(begin, column);
}

/// Whether the line above ends with a colon.
bool Lexer::opensBlock() const {
  return tokens.size() > 1 && tokens.lastKind() == TokenKind::Newline &&
         tokens.kind(tokens.size() - 2) == TokenKind::Colon;
}

void Lexer::applyIndentation(const char *begin, unsigned column) {
  unsigned current = indentation.empty() ? 0 : indentation.back();
  Span here = spanOf(cursor, cursor);
  if (column > current) {
    if (indentation.size() >= maximumNesting)
      return giveUpOnNesting(spanOf(cursor, cursor + 1));
    indentation.push_back(column);
    return push(TokenKind::Indent, begin, cursor);
  }
  while (!indentation.empty() && column < indentation.back()) {
    unsigned below = indentation.size() > 1 ? indentation.rbegin()[1] : 0;
    // Between two levels: most likely meant for the inner one.
    if (column > below)
      return reportDedent(begin, column);
    indentation.pop_back();
    pushSpan(TokenKind::Dedent, here);
  }
}

/// Lines that repeat the same wrong column are one mistake.
void Lexer::reportDedent(const char *begin, unsigned column) {
  if (column != wrongColumn)
    diagnostics.report(spanOf(begin, cursor), diag::InconsistentDedent, column);
  wrongColumn = column;
}

void Lexer::endLine() {
  if (!brackets.empty() || gaveUp)
    return;
  TokenKind last = tokens.lastKind();
  bool hasTokens = last != TokenKind::EndOfFile && last != TokenKind::Newline &&
                   last != TokenKind::Indent && last != TokenKind::Dedent;
  if (!hasTokens)
    return;
  const char *end = cursor;
  if (end > textBegin && end[-1] == '\n')
    --end;
  push(TokenKind::Newline, end, end);
}

void Lexer::finish() {
  if (!brackets.empty())
    closeForgottenBrackets();
  cursor = textEnd;
  endLine();
  Span end = spanOf(textEnd, textEnd);
  if (gaveUp && tokens.size() != 0 && tokens.lastKind() != TokenKind::Newline)
    pushSpan(TokenKind::Newline, end);
  for (; !indentation.empty(); indentation.pop_back())
    pushSpan(TokenKind::Dedent, end);
  pushSpan(TokenKind::EndOfFile, end);
}

void Lexer::openBracket(TokenKind kind, TokenKind closer, unsigned length) {
  Span span = spanOf(cursor, cursor + length);
  if (brackets.empty() && kind == TokenKind::LeftBrace)
    return passBrace(span);
  if (brackets.size() >= maximumNesting)
    return giveUpOnNesting(span);
  brackets.push_back({closer, span});
  pushAndAdvance(kind, length);
}

/// Choices have braces, within other brackets; blocks have none. The first is
/// reported, and all are left out.
void Lexer::passBrace(Span span) {
  if (!openBraces)
    diagnostics.report(span, diag::BracedBlock)
        .hint("write `:`, and indent what belongs to it");
  openBraces = openBraces.value_or(0) + 1;
  pushAndAdvance(TokenKind::Error, 1);
}

void Lexer::closeBracket(TokenKind kind, unsigned length) {
  Span span = spanOf(cursor, cursor + length);
  llvm::StringRef text(cursor, length);
  bool closesBlock = kind == TokenKind::RightBrace && openBraces.value_or(0);
  if (brackets.empty() && closesBlock) {
    --*openBraces;
    cursor += length;
    return;
  }
  if (brackets.empty()) {
    diagnostics.report(span, diag::UnbalancedClose, text);
    cursor += length;
    return;
  }
  Bracket open = brackets.pop_back_val();
  if (open.closer != kind)
    diagnostics.report(span, diag::MismatchedClose, text, file.text(open.span))
        .label(open.span, "opened here");
  // The parser gets the bracket that fits, whatever was written.
  pushAndAdvance(open.closer, length);
}

/// Reports what was left open and closes it for the parser.
void Lexer::closeForgottenBrackets() {
  Span outermost = brackets.front().span;
  if (!gaveUp && !swallowedBrackets)
    diagnostics.report(outermost, diag::UnclosedBracket, file.text(outermost))
        .label(spanOf(cursor, cursor), "still open here");
  swallowedBrackets = false;
  Span here = tokens.span(tokens.size() - 1);
  here.begin = here.end;
  while (!brackets.empty())
    pushSpan(brackets.pop_back_val().closer, here);
  if (!gaveUp)
    pushSpan(TokenKind::Newline, here);
}

/// `word = …` within brackets: an argument of that name, whatever the word.
static bool namesArgument(const char *afterWord) {
  while (*afterWord == ' ')
    ++afterWord;
  return afterWord[0] == '=' && afterWord[1] != '=';
}

/// Within brackets: does the line begin with a word that only a statement or a
/// declaration begins with? Then a bracket was forgotten above.
bool Lexer::startsStatement() const {
  bool outermost = cursor == textBegin || cursor[-1] == '\n';
  if (outermost && *cursor == '@')
    return true;
  const char *end = cursor;
  while (characters::is(*end, characters::nameStart | characters::digit))
    ++end;
  if (namesArgument(end))
    return false;
  switch (keywords::lookUp({cursor, static_cast<std::size_t>(end - cursor)})) {
  case TokenKind::KwLet:
  case TokenKind::KwVar:
  case TokenKind::KwReturn:
  case TokenKind::KwElif:
  case TokenKind::KwWhile:
  case TokenKind::KwEach:
  case TokenKind::KwLaunch:
  case TokenKind::KwShared:
  case TokenKind::KwLocal:
  case TokenKind::KwBreak:
  case TokenKind::KwContinue:
  case TokenKind::KwPass:
    return true;
  case TokenKind::KwFrom:
  case TokenKind::KwConst:
  case TokenKind::KwFn:
  case TokenKind::KwElementwise:
  case TokenKind::KwReduction:
  case TokenKind::KwRowwise:
  case TokenKind::KwKernel:
  case TokenKind::KwOp:
    return outermost;
  default:
    return false;
  }
}

void Lexer::giveUpOnNesting(Span span) {
  diagnostics.report(span, diag::NestedTooDeep, maximumNesting);
  gaveUp = true;
}
