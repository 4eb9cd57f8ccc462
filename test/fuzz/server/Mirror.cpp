// Edits of a document in UTF-16 code units.
#include "test/fuzz/server/Mirror.h"
#include "test/fuzz/Words.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ConvertUTF.h"

using namespace quern::fuzz;
namespace json = llvm::json;

std::size_t quern::fuzz::pick(Random &random, std::size_t count) {
  return count ? random() % count : 0;
}

std::string quern::fuzz::randomWord(Random &random) {
  return grammarWords[pick(random, std::size(grammarWords))];
}

static std::u16string wide(llvm::StringRef text) {
  llvm::SmallVector<llvm::UTF16, 0> units;
  llvm::convertUTF8ToUTF16String(text, units);
  return {units.begin(), units.end()};
}

static std::string narrow(const std::u16string &units) {
  std::string text;
  llvm::SmallVector<llvm::UTF16, 0> copy(units.begin(), units.end());
  llvm::convertUTF16ToUTF8String(copy, text);
  return text;
}

Mirror::Mirror(llvm::StringRef text) : original(wide(text)), units(original) {}

std::string Mirror::text() const { return narrow(units); }

/// Does a line end in front of this unit?
static bool beginsLine(const std::u16string &units, std::size_t unit) {
  if (unit == 0)
    return true;
  char16_t before = units[unit - 1];
  bool isPair = before == u'\r' && unit < units.size() && units[unit] == u'\n';
  return before == u'\n' || (before == u'\r' && !isPair);
}

std::size_t Mirror::lineBegin(std::size_t unit) const {
  while (!beginsLine(units, unit))
    --unit;
  return unit;
}

std::size_t Mirror::lineEnd(std::size_t unit) const {
  while (unit < units.size() && units[unit] != u'\n' && units[unit] != u'\r')
    ++unit;
  return unit;
}

json::Value Mirror::position(std::size_t unit) const {
  std::int64_t line = 0;
  for (std::size_t i = 1; i <= unit; ++i)
    line += beginsLine(units, i);
  return json::Object{
      {"line", line},
      {"character", static_cast<std::int64_t>(unit - lineBegin(unit))}};
}

std::size_t Mirror::lineCount() const {
  std::size_t lines = 1;
  for (std::size_t i = 1; i <= units.size(); ++i)
    lines += beginsLine(units, i);
  return lines;
}

std::size_t Mirror::place(Random &random) const {
  std::size_t unit = pick(random, units.size() + 1);
  auto isInside = [&](std::size_t i) {
    bool isLow = i < units.size() && units[i] >= 0xDC00 && units[i] <= 0xDFFF;
    bool isFeed = i < units.size() && units[i] == u'\n' && i != 0 &&
                  units[i - 1] == u'\r';
    return isLow || isFeed;
  };
  while (isInside(unit))
    --unit;
  return unit;
}

json::Value Mirror::replace(std::size_t begin, std::size_t end,
                            const std::u16string &text) {
  json::Object change{{"range", json::Object{{"start", position(begin)},
                                             {"end", position(end)}}},
                      {"text", narrow(text)}};
  units.replace(begin, end - begin, text);
  return change;
}

json::Value Mirror::restore() {
  units = original;
  return json::Object{{"text", text()}};
}

std::u16string Mirror::piece(Random &random) const {
  std::size_t begin = place(random), end = place(random);
  if (begin > end)
    std::swap(begin, end);
  constexpr std::size_t longest = 40;
  return units.substr(begin, std::min(end - begin, longest));
}

json::Value Mirror::edit(Random &random) {
  std::size_t begin = place(random), end = begin;
  std::size_t line = lineBegin(begin);
  constexpr std::size_t most = 12;
  switch (random() % 8) {
  case 0: // a letter, as one types
    return replace(begin, begin, {static_cast<char16_t>('a' + random() % 26)});
  case 1: // a word
  case 2:
    return replace(begin, begin, wide(randomWord(random)));
  case 3: // some letters go
    end = place(random);
    if (end < begin || end - begin > most)
      end = begin;
    return replace(begin, end, {});
  case 4: // a word takes the place of others
    end = place(random);
    if (end < begin || end - begin > most)
      end = begin;
    return replace(begin, end, wide(randomWord(random)));
  case 5: // a line goes
    return replace(line, lineEnd(begin), {});
  case 6: // a line is there twice
    return replace(line, line,
                   units.substr(line, lineEnd(begin) - line) + u"\n");
  default: // a piece from elsewhere; surrogates stay whole
    return replace(begin, begin, wide(narrow(piece(random))));
  }
}
