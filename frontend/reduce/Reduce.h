// Makes a text that shows something smaller, as long as it still shows it.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace quern {

/// Whether a text still shows what the first one showed.
using StillShows = llvm::function_ref<bool(llvm::StringRef text)>;

struct ReduceOptions {
  /// Declarations whose names and signatures stay.
  std::vector<std::string> kept;
  /// How often `StillShows` is asked at most.
  unsigned mostTrials = 100000;
};

struct Reduced {
  std::string text;
  unsigned trials = 0; ///< how often `StillShows` was asked
};

/// A text that can be read stays one, formatted as `quern fmt` does, and loses
/// parts of its syntax tree; of any other text lines and then characters go.
/// What comes back shows it, provided that `text` does.
Reduced reduceText(llvm::StringRef text, StillShows stillShows,
                   const ReduceOptions &options = {});

} // namespace quern
