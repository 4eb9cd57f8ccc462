// Numbers and strings: where they end, and whether they are well formed.
#include "frontend/lex/Characters.h"
#include "frontend/lex/LexerImpl.h"

using namespace quern;

void Lexer::scanDigits(std::uint8_t mask) {
  while (characters::is(*cursor, mask) ||
         (*cursor == '_' && characters::is(cursor[1], mask)))
    ++cursor;
}

/// An `e` is an exponent when digits follow it.
bool Lexer::scanExponent(char lower) {
  if ((*cursor | 0x20) != lower)
    return true;
  const char *after = cursor + 1;
  if (*after == '+' || *after == '-')
    ++after;
  cursor = after;
  if (!characters::is(*after, characters::digit))
    return false;
  scanDigits(characters::digit);
  return true;
}

/// Letters stuck to a number make it no number: `12abc` is one mistake.
void Lexer::finishNumber(const char *begin, TokenKind kind, bool good) {
  const char *end = cursor;
  bool wasGood = good;
  while (characters::is(*cursor, characters::nameStart | characters::digit)) {
    ++cursor;
    good = false;
  }
  if (good)
    return push(kind, begin, cursor);
  llvm::StringRef digits(begin, end - begin), suffix(end, cursor - end);
  bool isType =
      wasGood && suffix.find_first_not_of("fFuUlLhH") == llvm::StringRef::npos;
  diagnostics
      .report(spanOf(begin, cursor), diag::MalformedNumber,
              llvm::StringRef(begin, cursor - begin))
      .hint(isType ? ("a literal takes the type that is wanted: write `" +
                      digits + "`")
                         .str()
                   : "");
  push(TokenKind::Error, begin, cursor);
}

void Lexer::lexNumber() {
  if (*cursor == '0' && llvm::StringRef("xXbBoO").contains(cursor[1]))
    return lexPrefixedNumber();
  const char *begin = cursor;
  TokenKind kind = TokenKind::Integer;
  scanDigits(characters::digit);
  // `0 .. n` may be written without blanks.
  if (*cursor == '.' && cursor[1] != '.') {
    kind = TokenKind::Float;
    ++cursor;
    scanDigits(characters::digit);
  }
  if ((*cursor | 0x20) == 'e')
    kind = TokenKind::Float;
  bool good = scanExponent('e');
  finishNumber(begin, kind, good);
}

void Lexer::lexPrefixedNumber() {
  const char *begin = cursor;
  bool hex = (cursor[1] | 0x20) == 'x';
  TokenKind kind = TokenKind::Integer;
  cursor += 2;
  const char *digits = cursor;
  scanDigits(hex ? characters::hexDigit : characters::digit);
  char largest = (begin[1] | 0x20) == 'b' ? '1' : '7';
  bool good = cursor != digits;
  if (!hex)
    for (const char *at = digits; at != cursor; ++at)
      good &= *at == '_' || *at <= largest;
  if (hex && *cursor == '.' && cursor[1] != '.') {
    kind = TokenKind::Float;
    ++cursor;
    scanDigits(characters::hexDigit);
    good &= (*cursor | 0x20) == 'p';
  }
  if (hex && (*cursor | 0x20) == 'p') {
    kind = TokenKind::Float;
    good &= scanExponent('p');
  }
  finishNumber(begin, kind, good);
}

void Lexer::lexString(char quote) {
  if (quote == '"' && cursor[1] == '"' && cursor[2] == '"')
    return lexDocstring();
  const char *begin = cursor++;
  while (*cursor != quote && *cursor != '\n' && !atEnd())
    cursor +=
        *cursor == '\\' && cursor[1] != '\n' && cursor + 1 < textEnd ? 2 : 1;
  if (*cursor != quote || atEnd()) {
    diagnostics.report(spanOf(begin, begin + 1), diag::UnterminatedString);
    swallowedBrackets = !brackets.empty();
    return push(TokenKind::Error, begin, cursor);
  }
  ++cursor;
  if (quote == '\'') {
    diagnostics.report(spanOf(begin, cursor), diag::SingleQuotes)
        .hint("write `\"…\"`");
  }
  push(TokenKind::String, begin, cursor);
}

void Lexer::lexDocstring() {
  llvm::StringRef rest(cursor, textEnd - cursor);
  std::size_t end = rest.find("\"\"\"", 3);
  if (end == llvm::StringRef::npos) {
    diagnostics.report(spanOf(cursor, cursor + 3), diag::UnterminatedDocstring);
    push(TokenKind::Docstring, cursor, textEnd);
    cursor = textEnd;
    return;
  }
  pushAndAdvance(TokenKind::Docstring, static_cast<unsigned>(end + 3));
}
