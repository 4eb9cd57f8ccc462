// The lexer's state; its methods are spread over files by what they read.
#pragma once

#include "frontend/lex/Lexer.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace quern {

class Lexer {
public:
  Lexer(const SourceFile &file, DiagnosticEngine &diagnostics);
  TokenBuffer run();

private:
  struct Bracket {
    TokenKind closer;
    Span span;
  };

  // Lexer.cpp
  bool textIsReadable();
  void lexLines();
  bool isTooLong();
  void lexToken();
  void lexName();
  void lexPunctuation();
  void lexBracket();
  void lexUnexpected();
  void lexForeignName(const char *begin);
  void lexBackslash();
  void skipComment();

  // Layout.cpp
  void startLine();
  static unsigned columnsOf(const char *begin, const char *end);
  bool checkIndentationStyle(const char *begin, const char *end);
  bool opensBlock() const;
  void applyIndentation(const char *begin, unsigned column);
  void reportDedent(const char *begin, unsigned column);
  bool continuesSignature() const;
  void endLine();
  void finish();
  void passBrace(Span span);
  void openBracket(TokenKind kind, TokenKind closer, unsigned length);
  void closeBracket(TokenKind kind, unsigned length);
  void closeForgottenBrackets();
  bool startsStatement() const;
  void giveUpOnNesting(Span span);

  // Literals.cpp
  void lexNumber();
  void lexPrefixedNumber();
  void scanDigits(std::uint8_t mask);
  bool scanExponent(char lower);
  void finishNumber(const char *begin, TokenKind kind, bool good);
  void lexString(char quote);
  void lexDocstring();

  void push(TokenKind kind, const char *begin, const char *end) {
    pushSpan(kind, spanOf(begin, end));
  }
  void pushSpan(TokenKind kind, Span span) { tokens.push(kind, span); }
  void pushAndAdvance(TokenKind kind, unsigned length) {
    push(kind, cursor, cursor + length);
    cursor += length;
  }
  Span spanOf(const char *begin, const char *end) const {
    return file.span(begin - textBegin, end - textBegin);
  }
  /// The text ends in NUL, so one and two bytes ahead of a non-NUL are safe.
  bool atEnd() const { return cursor >= textEnd; }

  const SourceFile &file;
  DiagnosticEngine &diagnostics;
  TokenBuffer tokens;
  const char *textBegin, *textEnd, *cursor;
  llvm::SmallVector<Bracket, 16> brackets;
  llvm::SmallVector<unsigned, 16> indentation; ///< columns of open blocks
  char indentStyle = 0;                        ///< ' ' or '\t', once known
  bool reportedStyle = false; ///< mixed indentation is one mistake
  unsigned wrongColumn = 0;   ///< of the last inconsistent dedent
  /// An unclosed string has swallowed the rest of a line, brackets included.
  bool swallowedBrackets = false;
  /// Braces around blocks that are open; none was seen at first.
  std::optional<unsigned> openBraces = {};
  llvm::SmallVector<llvm::StringRef, 4> foreignNames; ///< reported already
  bool gaveUp = false; ///< nested too deeply, not UTF-8, NUL
};

} // namespace quern
