// Diagnostics as text for people, as JSON and as SARIF.
#pragma once

#include "frontend/diagnostics/Engine.h"

namespace llvm {
class raw_ostream;
}

namespace quern {

/// Source lines with carets, labels, notes and hints, then the counts.
void renderText(const DiagnosticEngine &diagnostics,
                const SourceManager &sources, llvm::raw_ostream &out,
                bool color);
/// One diagnostic without the counts.
void renderText(const SourceDiagnostic &diagnostic,
                const SourceManager &sources, llvm::raw_ostream &out,
                bool color);
/// One JSON object for each diagnostic, one to a line.
void renderJson(const DiagnosticEngine &diagnostics,
                const SourceManager &sources, llvm::raw_ostream &out);
/// A SARIF 2.1.0 log of one run.
void renderSarif(const DiagnosticEngine &diagnostics,
                 const SourceManager &sources, llvm::raw_ostream &out);

llvm::StringRef nameOf(Severity severity); ///< "error", "warning", "note"

} // namespace quern
