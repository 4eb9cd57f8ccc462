// Applies the fixes that diagnostics carry to the text they are about.
#pragma once

#include "frontend/diagnostics/Engine.h"

namespace quern {

/// The text of `file` with every fix of `diagnostics` that lies in it and
/// touches no earlier one; `applied` counts them.
std::string applyFixes(const SourceFile &file,
                       const DiagnosticEngine &diagnostics, unsigned &applied);

} // namespace quern
