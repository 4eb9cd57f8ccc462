// Turns a text into tokens, layout included.
#pragma once

#include "frontend/diagnostics/Engine.h"
#include "frontend/lex/TokenBuffer.h"

namespace quern {

/// Brackets within brackets, and blocks within blocks, that are accepted.
inline constexpr unsigned maximumNesting = 256;

TokenBuffer lex(const SourceFile &file, DiagnosticEngine &diagnostics);

} // namespace quern
