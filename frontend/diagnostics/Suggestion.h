// What a misspelt word may have meant.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace quern {

/// Collects words near a misspelt one; the best is the hint.
class Suggestion {
public:
  explicit Suggestion(llvm::StringRef misspelt) : misspelt(misspelt) {}
  void consider(llvm::StringRef candidate);
  /// "did you mean `x`?", or empty when nothing is near.
  std::string hint() const;

private:
  llvm::StringRef misspelt, best;
  unsigned distance = ~0u;
};

} // namespace quern
