// Names, operators and the loop over characters.
#include "frontend/lex/LexerImpl.h"

#include "frontend/lex/Characters.h"
#include "frontend/lex/Keywords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"

#include <cstring>

using namespace quern;

TokenBuffer quern::lex(const SourceFile &file, DiagnosticEngine &diagnostics) {
  return Lexer(file, diagnostics).run();
}

Lexer::Lexer(const SourceFile &file, DiagnosticEngine &diagnostics)
    : file(file), diagnostics(diagnostics), tokens(file),
      textBegin(file.text().begin()), textEnd(file.text().end()),
      cursor(textBegin) {
  // Kernels have two tokens every five bytes; a bad guess costs one copy.
  std::uint64_t guess = file.text().size() / 5 * 2 + 16;
  tokens.tokens.reserve(std::min(guess, diagnostics.tokenLimit()));
}

TokenBuffer Lexer::run() {
  gaveUp = !textIsReadable();
  if (file.text().starts_with("\xEF\xBB\xBF"))
    cursor += 3;
  if (!gaveUp)
    lexLines();
  finish();
  tokens.isTruncated = gaveUp || diagnostics.limitReached();
  return std::move(tokens);
}

/// What is no text at all gets one error and no others.
bool Lexer::textIsReadable() {
  llvm::StringRef text = file.text();
  if (const void *nul = std::memchr(textBegin, 0, text.size())) {
    const char *at = static_cast<const char *>(nul);
    diagnostics.report(spanOf(at, at + 1), diag::NulByte)
        .hint("save the file as UTF-8 text");
    return false;
  }
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(textBegin);
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(textEnd);
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if (word & 0x8080808080808080u)
      break;
  }
  if (llvm::isLegalUTF8String(&at, end))
    return true;
  const char *bad = reinterpret_cast<const char *>(at);
  diagnostics.report(spanOf(bad, bad + 1), diag::NotUtf8)
      .hint("save the file as UTF-8 text");
  return false;
}

void Lexer::lexLines() {
  while (!atEnd() && !gaveUp && !diagnostics.limitReached()) {
    startLine();
    // Past the limit of errors nothing more will be said.
    while (!gaveUp && !diagnostics.limitReached() && !isTooLong()) {
      while (characters::is(*cursor, characters::blank))
        ++cursor;
      if (*cursor == '#')
        skipComment();
      if (atEnd())
        break;
      if (*cursor == '\n') {
        ++cursor;
        break;
      }
      lexToken();
    }
    endLine();
  }
}

/// Comments are kept as well.
bool Lexer::isTooLong() {
  std::uint64_t limit = diagnostics.tokenLimit();
  if (tokens.size() + tokens.commentSpans.size() <= limit)
    return false;
  diagnostics.report(spanOf(cursor, cursor), diag::TextTooLong, limit)
      .hint("`QUERN_MOST_TOKENS` sets the limit");
  return gaveUp = true;
}

void Lexer::skipComment() {
  const void *newline = std::memchr(cursor, '\n', textEnd - cursor);
  const char *end = newline ? static_cast<const char *>(newline) : textEnd;
  const char *begin = cursor;
  cursor = end;
  if (end[-1] == '\r')
    --end;
  tokens.commentSpans.push_back(spanOf(begin, end));
}

/// A letter of the scripts that names are most often written in.
static bool isForeignLetter(unsigned codePoint) {
  bool isLatin = codePoint >= 0xC0 && codePoint <= 0x24F && codePoint != 0xD7 &&
                 codePoint != 0xF7;
  return isLatin || (codePoint >= 0x370 && codePoint <= 0x52F);
}

static bool isForeign(char c) { return static_cast<unsigned char>(c) >= 0x80; }

/// The code point of a character of two bytes, else 0.
static unsigned twoByteCodePoint(const char *at) {
  unsigned first = static_cast<unsigned char>(at[0]);
  if ((first & 0xE0) != 0xC0)
    return 0;
  return (first & 0x1F) << 6 | (static_cast<unsigned char>(at[1]) & 0x3F);
}

void Lexer::lexName() {
  const char *begin = cursor;
  do
    ++cursor;
  while (characters::is(*cursor, characters::nameStart | characters::digit));
  if (isForeign(*cursor) && isForeignLetter(twoByteCodePoint(cursor)))
    return lexForeignName(begin);
  std::string_view text(begin, cursor - begin);
  push(keywords::lookUp(text), begin, cursor);
}

void Lexer::lexToken() {
  char c = *cursor;
  if (characters::is(c, characters::nameStart))
    return lexName();
  if (characters::is(c, characters::digit) ||
      (c == '.' && characters::is(cursor[1], characters::digit)))
    return lexNumber();
  if (c == '"' || c == '\'')
    return lexString(c);
  lexPunctuation();
}

/// Chooses the longest operator that begins with the given character.
#define OPERATOR(c, one, assigned)                                             \
  case c:                                                                      \
    if (cursor[1] == '=')                                                      \
      return pushAndAdvance(TokenKind::assigned, 2);                           \
    return pushAndAdvance(TokenKind::one, 1);
#define DOUBLED(c, one, assigned, two, twoAssigned)                            \
  case c:                                                                      \
    if (cursor[1] != c)                                                        \
      return cursor[1] == '=' ? pushAndAdvance(TokenKind::assigned, 2)         \
                              : pushAndAdvance(TokenKind::one, 1);             \
    if (cursor[2] == '=')                                                      \
      return pushAndAdvance(TokenKind::twoAssigned, 3);                        \
    return pushAndAdvance(TokenKind::two, 2);
#define SINGLE(c, one)                                                         \
  case c:                                                                      \
    return pushAndAdvance(TokenKind::one, 1);

void Lexer::lexPunctuation() {
  switch (*cursor) {
    DOUBLED('/', Slash, SlashAssign, SlashSlash, SlashSlashAssign)
    DOUBLED('<', Less, LessEqual, LessLess, LessLessAssign)
    DOUBLED('>', Greater, GreaterEqual, GreaterGreater, GreaterGreaterAssign)
    OPERATOR('+', Plus, PlusAssign)
    OPERATOR('%', Percent, PercentAssign)
    OPERATOR('&', Ampersand, AmpersandAssign)
    OPERATOR('|', Pipe, PipeAssign)
    OPERATOR('^', Caret, CaretAssign)
    OPERATOR('=', Assign, EqualEqual)
    OPERATOR('!', Bang, BangEqual)
    SINGLE(',', Comma)
    SINGLE(':', Colon)
    SINGLE(';', Semicolon)
    SINGLE('@', At)
    SINGLE('?', Question)
    SINGLE('~', Tilde)
  case '.':
    return pushAndAdvance(cursor[1] == '.' ? TokenKind::DotDot : TokenKind::Dot,
                          cursor[1] == '.' ? 2 : 1);
  case '-':
    if (cursor[1] == '>')
      return pushAndAdvance(TokenKind::Arrow, 2);
    return pushAndAdvance(cursor[1] == '=' ? TokenKind::MinusAssign
                                           : TokenKind::Minus,
                          cursor[1] == '=' ? 2 : 1);
  case '*':
    if (cursor[1] == '*')
      return pushAndAdvance(TokenKind::StarStar, 2);
    return pushAndAdvance(cursor[1] == '=' ? TokenKind::StarAssign
                                           : TokenKind::Star,
                          cursor[1] == '=' ? 2 : 1);
  case '\\':
    return lexBackslash();
  default:
    return lexBracket();
  }
}
#undef OPERATOR
#undef DOUBLED
#undef SINGLE

void Lexer::lexBracket() {
  switch (*cursor) {
  case '(':
    return openBracket(TokenKind::LeftParen, TokenKind::RightParen, 1);
  case '[':
    return openBracket(TokenKind::LeftBracket, TokenKind::RightBracket, 1);
  case '{':
    return openBracket(TokenKind::LeftBrace, TokenKind::RightBrace, 1);
  case ')':
    return closeBracket(TokenKind::RightParen, 1);
  case ']':
    return closeBracket(TokenKind::RightBracket, 1);
  case '}':
    return closeBracket(TokenKind::RightBrace, 1);
  default:
    return lexUnexpected();
  }
}

/// Python joins lines so; understood, reported, and joined to go on.
void Lexer::lexBackslash() {
  const char *end = cursor + 1;
  while (characters::is(*end, characters::blank))
    ++end;
  Span span = spanOf(cursor, cursor + 1);
  if (*end != '\n') {
    diagnostics.report(span, diag::UnexpectedCharacter, "\\");
    pushAndAdvance(TokenKind::Error, 1);
    return;
  }
  diagnostics.report(span, diag::LineContinuation)
      .hint("put the expression in parentheses");
  cursor = end + 1;
}

/// A name with letters that names may not have: still a name to the parser.
void Lexer::lexForeignName(const char *begin) {
  while (characters::is(*cursor, characters::nameStart | characters::digit) ||
         isForeignLetter(twoByteCodePoint(cursor)))
    cursor += isForeign(*cursor) ? 2 : 1;
  llvm::StringRef name(begin, cursor - begin);
  push(TokenKind::Identifier, begin, cursor);
  if (llvm::is_contained(foreignNames, name))
    return;
  // Enough to say it once for each name, and bounded for texts of nothing else.
  if (foreignNames.size() < 64)
    foreignNames.push_back(name);
  std::size_t first = name.find_if(isForeign);
  diagnostics
      .report(spanOf(begin + first, begin + first + 2),
              diag::UnexpectedCharacter, name.substr(first, 2))
      .hint("names are made of `a` to `z`, `A` to `Z`, digits and `_`");
}

/// A control character as an escape: a terminal would obey it.
static std::string visible(llvm::StringRef character) {
  bool isControl = llvm::isASCII(character) && !llvm::isPrint(character[0]);
  return isControl ? "\\x" + llvm::toHex(character, true) : character.str();
}

/// What the sign is typed for, or "".
static llvm::StringRef plainSign(llvm::StringRef sign) {
  return llvm::StringSwitch<llvm::StringRef>(sign)
      .Cases({"“", "”", "„", "‘", "’"}, "\"")
      .Cases({"−", "–", "—"}, "-")
      .Cases({"×", "·"}, "*")
      .Case("÷", "/")
      .Case("≤", "<=")
      .Case("≥", ">=")
      .Case("≠", "!=")
      .Case("→", "->")
      .Default("");
}

void Lexer::lexUnexpected() {
  if (isForeignLetter(twoByteCodePoint(cursor)))
    return lexForeignName(cursor);
  const char *begin = cursor++;
  while ((static_cast<unsigned char>(*cursor) & 0xC0) == 0x80)
    ++cursor;
  llvm::StringRef character(begin, cursor - begin);
  // A run of foreign characters is one mistake.
  while (isForeign(*begin) && isForeign(*cursor))
    ++cursor;
  llvm::StringRef plain = plainSign(character);
  diagnostics
      .report(spanOf(begin, cursor), diag::UnexpectedCharacter,
              visible(character))
      .hint(plain.empty() ? "" : "write `" + plain + "`");
  push(TokenKind::Error, begin, cursor);
}
