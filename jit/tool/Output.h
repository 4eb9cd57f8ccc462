// Writes what a verb of `quern` makes into a file.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace quern::tool {

/// "-" is standard output. A file is replaced as a whole, so that no failure
/// leaves half of it, and keeps its permissions; a link stays one, and what it
/// points to is replaced. A device or a pipe is written to. Gives "", or what
/// went wrong.
std::string writeOutput(llvm::StringRef path, llvm::StringRef text);

} // namespace quern::tool
