// JSON that others wrote, read within a bound of nesting.
#pragma once

#include "llvm/Support/JSON.h"

#include <optional>

namespace quern::jit {

/// Nothing where the text is no JSON, or has lists and objects within one
/// another deeper than any of ours: the parser takes stack for each.
std::optional<llvm::json::Value> readJson(llvm::StringRef text);

} // namespace quern::jit
