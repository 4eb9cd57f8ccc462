// The formatter: one layout for every text that parses.
#pragma once

#include "frontend/lex/TokenBuffer.h"

#include <string>

namespace quern {

/// Columns that a line may take when it can be broken.
inline constexpr unsigned lineWidth = 120;

/// Lays the tokens out anew and keeps the comments. The text must have been
/// parsed without errors. Formatting what was formatted changes nothing.
std::string format(const TokenBuffer &tokens);

} // namespace quern
