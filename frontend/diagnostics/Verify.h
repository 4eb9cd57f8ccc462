// Compares diagnostics with what a test's comments expect.
#pragma once

#include "frontend/diagnostics/Engine.h"

namespace llvm {
class raw_ostream;
}

namespace quern {

/// Comments say what is expected on their line, or as many lines away:
/// `# expected-error {{text}}`, `# expected-warning@+1 {{text}}`,
/// `# expected-note@-2 {{text}}` for labels, notes and hints. The text must
/// occur in "QN0123: message". Every error and warning must be expected; notes
/// may be. Returns whether all fits, and writes what does not.
bool verifyDiagnostics(const DiagnosticEngine &diagnostics,
                       const SourceManager &sources, const SourceFile &file,
                       llvm::raw_ostream &out);

} // namespace quern
