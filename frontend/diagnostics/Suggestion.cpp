// Finds the nearest word by edit distance.
#include "frontend/diagnostics/Suggestion.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace quern;

/// Two neighbouring letters in the other order: `retrun`, the commonest slip.
static bool isSwapped(llvm::StringRef a, llvm::StringRef b) {
  if (a.size() != b.size())
    return false;
  auto [first, other] = std::mismatch(a.begin(), a.end(), b.begin());
  std::size_t at = first - a.begin();
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] &&
         a.substr(at + 2) == b.substr(at + 2);
}

void Suggestion::consider(llvm::StringRef candidate) {
  // A third of the letters wrong is another word, not a slip; one slip is
  // allowed in short names, but a name of one letter has no neighbours.
  unsigned limit = std::max<unsigned>(misspelt.size() / 3, 1);
  if (misspelt.size() < 2 && candidate.lower() != misspelt.lower())
    return;
  unsigned found = candidate.equals_insensitive(misspelt) ? 0
                   : isSwapped(misspelt, candidate)
                       ? 1
                       : misspelt.edit_distance(candidate, true, limit + 1);
  // Ties go to the name that comes first in the alphabet: same input, same
  // text, whatever the order of candidates.
  bool isBetter = found < distance || (found == distance && candidate < best);
  if (found > limit || !isBetter || candidate == misspelt)
    return;
  distance = found;
  best = candidate;
}

std::string Suggestion::hint() const {
  return best.empty() ? std::string() : ("did you mean `" + best + "`?").str();
}
