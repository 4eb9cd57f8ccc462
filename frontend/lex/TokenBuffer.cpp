// Names of tokens and the dump of `--emit=tokens`.
#include "frontend/lex/TokenBuffer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;

llvm::StringRef quern::describe(TokenKind kind) {
  static constexpr llvm::StringLiteral table[] = {
#define QN_TOKEN(name, description) description,
#include "frontend/lex/Tokens.def"
  };
  return table[static_cast<unsigned>(kind)];
}

llvm::StringRef quern::nameOf(TokenKind kind) {
  static constexpr llvm::StringLiteral table[] = {
#define QN_TOKEN(name, description) #name,
#include "frontend/lex/Tokens.def"
  };
  return table[static_cast<unsigned>(kind)];
}

Span TokenBuffer::longSpan(std::uint32_t begin) const {
  const auto *found = std::lower_bound(
      longSpans.data(), longSpans.data() + longSpans.size(), begin,
      [](Span span, std::uint32_t offset) { return span.begin < offset; });
  return *found;
}

bool quern::isKeyword(TokenKind kind) {
  return kind >= TokenKind::KwAnd && kind <= TokenKind::KwWhile;
}

void quern::printTokens(const TokenBuffer &tokens, const SourceManager &sources,
                        llvm::raw_ostream &out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    SourceLocation place = sources.locate(tokens.span(i).begin);
    out << place.line << ':' << place.column << ' ' << nameOf(tokens.kind(i));
    bool isLayout = tokens.kind(i) <= TokenKind::Dedent;
    if (!isLayout && !tokens.text(i).empty()) {
      out << " '";
      llvm::printEscapedString(tokens.text(i), out);
      out << '\'';
    }
    out << '\n';
  }
}
