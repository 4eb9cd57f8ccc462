// Tries the candidates until none of them shows what is looked for.
#include "frontend/reduce/Reduce.h"

#include "frontend/Frontend.h"
#include "frontend/format/Format.h"
#include "frontend/lex/Lexer.h"
#include "frontend/reduce/Candidates.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cctype>
#include <tuple>

using namespace quern;
using namespace quern::reduce;

namespace {

/// A text as it was read. The sources own what the tokens refer to.
struct Parsed {
  explicit Parsed(llvm::StringRef text)
      : file(*sources.add("reduced.qn", text)), tokens(lex(file, diagnostics)),
        module(parse(tokens, diagnostics)) {}

  bool isGood() const { return !diagnostics.hasErrors(); }

  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile &file;
  TokenBuffer tokens;
  std::unique_ptr<ast::Module> module;
};

/// Fewer tokens, then fewer characters, then smaller digits: every step goes
/// down, so that the steps end.
using Weight = std::tuple<std::size_t, std::size_t, std::size_t>;

Weight weightOf(const TokenBuffer &tokens, llvm::StringRef text) {
  std::size_t digits = 0;
  for (char c : text)
    digits += std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : 10;
  return {tokens.size() + tokens.comments().size(), text.size(), digits};
}

class Reducer {
public:
  Reducer(StillShows stillShows, const ReduceOptions &options)
      : stillShows(stillShows), options(options) {}

  Reduced run(llvm::StringRef text);

private:
  bool shows(llvm::StringRef text);
  bool tryFormatted(const std::string &text);
  bool tryAll();
  void reduceTree(llvm::StringRef text);
  std::string withoutPieces(std::vector<std::string> pieces);

  StillShows stillShows;
  const ReduceOptions &options;
  std::string best;
  Weight weight;
  llvm::StringSet<> tried;
  unsigned trials = 0;
};

} // namespace

/// Each text is asked about once.
bool Reducer::shows(llvm::StringRef text) {
  if (trials >= options.mostTrials || !tried.insert(text).second)
    return false;
  ++trials;
  return stillShows(text);
}

bool Reducer::tryFormatted(const std::string &text) {
  Parsed read(text);
  if (!read.isGood())
    return false;
  std::string formatted = format(read.tokens);
  Parsed again(formatted);
  Weight now = weightOf(again.tokens, formatted);
  if (!again.isGood() || !(now < weight) || !shows(formatted))
    return false;
  best = std::move(formatted);
  weight = now;
  return true;
}

/// One pass over the candidates. After a success it continues with those of the
/// new text.
bool Reducer::tryAll() {
  bool changed = false;
  for (std::size_t next = 0;;) {
    Parsed read(best);
    std::vector<Edit> edits =
        candidates(read.tokens, *read.module, options.kept);
    bool succeeded = false;
    for (; next < edits.size() && !succeeded; ++next)
      succeeded = tryFormatted(applied(best, edits[next]));
    if (!succeeded)
      return changed;
    changed = true;
    --next;
  }
}

void Reducer::reduceTree(llvm::StringRef text) {
  Parsed read(text);
  weight = weightOf(read.tokens, text);
  // Where the layout matters, as for a formatter that fails, it stays.
  std::string formatted = format(read.tokens);
  if (formatted != text && shows(formatted)) {
    best = std::move(formatted);
    weight = weightOf(Parsed(best).tokens, best);
  }
  while (tryAll())
    ;
}

/// Leaves out pieces, halves first.
std::string Reducer::withoutPieces(std::vector<std::string> pieces) {
  for (std::size_t width = pieces.size(); width > 0; width /= 2)
    for (std::size_t at = 0; at < pieces.size();) {
      std::vector<std::string> fewer = pieces;
      auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      std::size_t count = std::min(width, pieces.size() - at);
      fewer.erase(from, from + static_cast<std::ptrdiff_t>(count));
      if (shows(llvm::join(fewer, "")))
        pieces = std::move(fewer);
      else
        at += width;
    }
  return llvm::join(pieces, "");
}

static std::vector<std::string> linesOf(llvm::StringRef text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.take_front(end).str());
    text = text.drop_front(end);
  }
  return lines;
}

Reduced Reducer::run(llvm::StringRef text) {
  best = text.str();
  if (Parsed(text).isGood()) {
    reduceTree(text);
    return {best, trials};
  }
  best = withoutPieces(linesOf(text));
  constexpr std::size_t mostCharacters = 4096;
  if (best.size() > mostCharacters)
    return {best, trials};
  std::vector<std::string> characters;
  for (char c : best)
    characters.emplace_back(1, c);
  best = withoutPieces(std::move(characters));
  return {best, trials};
}

Reduced quern::reduceText(llvm::StringRef text, StillShows stillShows,
                          const ReduceOptions &options) {
  return Reducer(stillShows, options).run(text);
}
