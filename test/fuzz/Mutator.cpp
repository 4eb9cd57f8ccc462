// A mutator that knows the grammar's words: it moves, repeats, drops and
// replaces whole tokens and lines, so that most mutants nearly parse.
#include "frontend/lex/Lexer.h"
#include "test/fuzz/Words.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace quern;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size,
                                        std::size_t maximum);

using Random = std::minstd_rand;

static std::size_t pick(Random &random, std::size_t count) {
  return count ? random() % count : 0;
}

/// Cuts the text where tokens begin; blanks stay with the token before.
static std::vector<std::string> pieces(llvm::StringRef text) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile *file = sources.add("mutate.qn", text);
  TokenBuffer tokens = lex(*file, diagnostics);
  std::vector<std::string> result;
  std::size_t last = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::size_t at = tokens.span(i).begin - file->beginOffset();
    if (at <= last)
      continue;
    result.push_back(text.slice(last, at).str());
    last = at;
  }
  if (last < text.size())
    result.push_back(text.substr(last).str());
  return result;
}

static void mutateTokens(std::vector<std::string> &tokens, Random &random) {
  std::size_t at = pick(random, tokens.size());
  std::size_t other = pick(random, tokens.size());
  std::size_t length =
      1 + pick(random, std::min<std::size_t>(8, tokens.size() - at));
  length = std::min(length, tokens.size() - at);
  switch (random() % 5) {
  case 0: // insert a word
    tokens.insert(
        tokens.begin() + at,
        fuzz::grammarWords[pick(random, std::size(fuzz::grammarWords))]);
    break;
  case 1: // replace a token by a word
    tokens[at] =
        std::string(
            fuzz::grammarWords[pick(random, std::size(fuzz::grammarWords))]) +
        " ";
    break;
  case 2: // drop some
    tokens.erase(tokens.begin() + at, tokens.begin() + at + length);
    break;
  case 3: { // repeat some elsewhere
    std::vector<std::string> copy(tokens.begin() + at,
                                  tokens.begin() + at + length);
    tokens.insert(tokens.begin() + other, copy.begin(), copy.end());
    break;
  }
  default: // exchange two
    std::swap(tokens[at], tokens[other]);
  }
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data,
                                               std::size_t size,
                                               std::size_t maximum,
                                               unsigned seed) {
  Random random(seed);
  std::vector<std::string> tokens =
      pieces({reinterpret_cast<const char *>(data), size});
  // Bytes too: the lexer must stand them.
  if (tokens.empty() || random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, maximum);
  for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i)
    if (!tokens.empty())
      mutateTokens(tokens, random);
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  std::size_t length = std::min(text.size(), maximum);
  std::memcpy(data, text.data(), length);
  return length;
}
