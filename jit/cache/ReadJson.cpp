// Looks at brackets before the parser does.
#include "jit/cache/ReadJson.h"

#include <algorithm>

using namespace quern;

static constexpr int mostNesting = 64;

/// Brackets in strings are none; whether brackets match is the parser's.
static bool isNestedTooDeep(llvm::StringRef text) {
  int depth = 0;
  bool isInString = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '"')
      isInString = !isInString;
    else if (isInString && c == '\\')
      ++at;
    else if (!isInString && (c == '[' || c == '{') && ++depth > mostNesting)
      return true;
    else if (!isInString && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

std::optional<llvm::json::Value> jit::readJson(llvm::StringRef text) {
  if (isNestedTooDeep(text))
    return std::nullopt;
  auto parsed = llvm::json::parse(text);
  if (parsed)
    return std::move(*parsed);
  llvm::consumeError(parsed.takeError());
  return std::nullopt;
}
