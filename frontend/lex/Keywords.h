// Keyword look-up by a perfect hash over the keywords' letters.
#pragma once

#include "frontend/lex/TokenBuffer.h"

#include <array>
#include <string_view>

namespace quern::keywords {

struct Row {
  std::string_view spelling;
  TokenKind kind;
};

inline constexpr Row rows[] = {
#define QN_TOKEN(name, description)
#define QN_PUNCTUATION(name, spelling)
#define QN_KEYWORD(name, spelling) {spelling, TokenKind::name},
#include "frontend/lex/Tokens.def"
};

inline constexpr unsigned slots = 128;
inline constexpr std::size_t shortest = 2, longest = 11;

/// The factors were found by trying; a new keyword may ask for others.
constexpr unsigned hash(std::string_view text) {
  auto byte = [&](std::size_t i) {
    return std::size_t{static_cast<unsigned char>(text[i])};
  };
  std::size_t sum = text.size() + byte(0) * 85 + byte(text.size() / 2) * 69 +
                    byte(text.size() - 1) * 74;
  return static_cast<unsigned>(sum % slots);
}

using Table = std::array<std::uint8_t, slots>; ///< 1 + index into rows

consteval Table makeTable() {
  Table table{};
  for (std::size_t i = 0; i < std::size(rows); ++i)
    table[hash(rows[i].spelling)] = static_cast<std::uint8_t>(i + 1);
  return table;
}

inline constexpr Table table = makeTable();

consteval bool isPerfect() {
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (table[hash(rows[i].spelling)] != i + 1 ||
        rows[i].spelling.size() < shortest || rows[i].spelling.size() > longest)
      return false;
  return true;
}
static_assert(isPerfect(), "two keywords collide: choose other factors");

inline TokenKind lookUp(std::string_view text) {
  if (text.size() < shortest || text.size() > longest)
    return TokenKind::Identifier;
  unsigned row = table[hash(text)];
  if (!row || rows[row - 1].spelling != text)
    return TokenKind::Identifier;
  return rows[row - 1].kind;
}

} // namespace quern::keywords
