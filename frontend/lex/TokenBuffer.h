// The tokens of one file as a structure of arrays.
#pragma once

#include "frontend/source/SourceManager.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace quern {

enum class TokenKind : std::uint8_t {
#define QN_TOKEN(name, description) name,
#include "frontend/lex/Tokens.def"
};

/// For messages: the spelling, or what the token is.
llvm::StringRef describe(TokenKind kind);
/// The enumerator: "LeftParen".
llvm::StringRef nameOf(TokenKind kind);
bool isKeyword(TokenKind kind);

/// Immutable once lexed; the last token is EndOfFile. Brackets are balanced and
/// every Indent has its Dedent, whatever the text was like.
class TokenBuffer {
public:
  explicit TokenBuffer(const SourceFile &file) : sourceFile(&file) {}

  const SourceFile &file() const { return *sourceFile; }
  std::size_t size() const { return kinds.size(); }
  TokenKind kind(std::size_t index) const { return kinds[index]; }
  Span span(std::size_t index) const { return spans[index]; }
  llvm::StringRef text(std::size_t index) const {
    return sourceFile->text(spans[index]);
  }
  /// Is there text among these tokens that the lexer could not read?
  bool hasError(std::size_t begin, std::size_t end) const {
    return std::find(kinds.begin() + begin, kinds.begin() + end,
                     TokenKind::Error) != kinds.begin() + end;
  }
  /// Comments from `#` to the end of the line, in order.
  llvm::ArrayRef<Span> comments() const { return commentSpans; }
  /// The lexer stopped early, so what follows from the end means nothing.
  bool truncated() const { return isTruncated; }
  std::size_t bytes() const {
    return kinds.capacity() + sizeof(Span) * spans.capacity() +
           sizeof(Span) * commentSpans.capacity();
  }

private:
  friend class Lexer;
  const SourceFile *sourceFile;
  std::vector<TokenKind> kinds;
  std::vector<Span> spans;
  std::vector<Span> commentSpans;
  bool isTruncated = false;
};

/// One line for each token: place, kind and text.
void printTokens(const TokenBuffer &tokens, const SourceManager &sources,
                 llvm::raw_ostream &out);

} // namespace quern
