// The tokens of one file, eight bytes each.
#pragma once

#include "frontend/source/SourceManager.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cassert>
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

/// Where a token begins, what it is, and how long. Only a docstring or an
/// unreadable text may be too long for the field; its end is kept elsewhere.
class Token {
public:
  static constexpr std::uint32_t longest = 0xFFFFFF;

  Token(TokenKind kind, Span span)
      : beginOffset(span.begin), packed(static_cast<std::uint32_t>(kind) |
                                        std::min(span.size(), longest) << 8) {}
  TokenKind kind() const { return static_cast<TokenKind>(packed & 0xFF); }
  std::uint32_t begin() const { return beginOffset; }
  std::uint32_t size() const { return packed >> 8; }

private:
  std::uint32_t beginOffset, packed;
};

/// Immutable once lexed; the last token is EndOfFile. Brackets are balanced and
/// every Indent has its Dedent, whatever the text was like.
class TokenBuffer {
public:
  explicit TokenBuffer(const SourceFile &file) : sourceFile(&file) {}

  const SourceFile &file() const { return *sourceFile; }
  std::size_t size() const { return tokens.size(); }
  TokenKind kind(std::size_t index) const { return tokens[index].kind(); }
  Span span(std::size_t index) const {
    Token token = tokens[index];
    if (token.size() == Token::longest)
      return longSpan(token.begin());
    return {token.begin(), token.begin() + token.size()};
  }
  llvm::StringRef text(std::size_t index) const {
    return sourceFile->text(span(index));
  }
  /// A bracket that the lexer closed, since the text does not.
  static bool isForgotten(Token token) {
    return token.size() == 0 && (token.kind() == TokenKind::RightParen ||
                                 token.kind() == TokenKind::RightBracket ||
                                 token.kind() == TokenKind::RightBrace);
  }
  /// Is there text among these tokens that the lexer could not read?
  bool hasError(std::size_t begin, std::size_t end) const {
    return std::any_of(
        tokens.begin() + begin, tokens.begin() + end, [](Token token) {
          return token.kind() == TokenKind::Error || isForgotten(token);
        });
  }
  /// Comments from `#` to the end of the line, in order.
  llvm::ArrayRef<Span> comments() const { return commentSpans; }
  /// The lexer stopped early, so what follows from the end means nothing.
  bool truncated() const { return isTruncated; }
  std::size_t bytes() const {
    return sizeof(Token) * tokens.capacity() +
           sizeof(Span) * (commentSpans.capacity() + longSpans.capacity());
  }

private:
  friend class Lexer;
  void push(TokenKind kind, Span span) {
    tokens.emplace_back(kind, span);
    if (span.size() >= Token::longest)
      longSpans.push_back(span);
  }
  TokenKind lastKind() const {
    return tokens.empty() ? TokenKind::EndOfFile : tokens.back().kind();
  }
  Span longSpan(std::uint32_t begin) const;

  const SourceFile *sourceFile;
  std::vector<Token> tokens;
  std::vector<Span> longSpans; ///< of tokens that are too long, in order
  std::vector<Span> commentSpans;
  bool isTruncated = false;
};

/// One line for each token: place, kind and text.
void printTokens(const TokenBuffer &tokens, const SourceManager &sources,
                 llvm::raw_ostream &out);

} // namespace quern
