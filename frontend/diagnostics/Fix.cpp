// Applies the fixes that diagnostics carry to the text they are about.
#include "frontend/diagnostics/Fix.h"

using namespace quern;

using Edits = llvm::SmallVector<const DiagnosticEdit *, 16>;

static bool liesIn(const SourceFile &file, Span span) {
  return span.valid() && file.contains(span.begin) && file.contains(span.end);
}

/// Two insertions at one place touch as well: their order would be a guess.
static bool touch(Span a, Span b) {
  return a.begin <= b.end && b.begin <= a.end;
}

static bool fits(const SourceDiagnostic &diagnostic, const SourceFile &file,
                 const Edits &chosen) {
  return llvm::all_of(diagnostic.fix, [&](const DiagnosticEdit &edit) {
    return liesIn(file, edit.span) &&
           llvm::none_of(chosen, [&](const DiagnosticEdit *other) {
             return touch(edit.span, other->span);
           });
  });
}

std::string quern::applyFixes(const SourceFile &file,
                              const DiagnosticEngine &diagnostics,
                              unsigned &applied) {
  Edits chosen;
  for (const SourceDiagnostic &diagnostic : diagnostics.diagnostics()) {
    if (diagnostic.fix.empty() || !fits(diagnostic, file, chosen))
      continue;
    ++applied;
    for (const DiagnosticEdit &edit : diagnostic.fix)
      chosen.push_back(&edit);
  }
  llvm::sort(chosen, [](const DiagnosticEdit *a, const DiagnosticEdit *b) {
    return a->span.begin < b->span.begin;
  });
  std::string text;
  std::uint32_t done = file.beginOffset();
  for (const DiagnosticEdit *edit : chosen) {
    text += file.text({done, edit->span.begin});
    text += edit->text;
    done = edit->span.end;
  }
  text += file.text({done, file.endOffset()});
  return text;
}
