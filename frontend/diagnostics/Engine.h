// Collects diagnostics: data first, rendered elsewhere.
#pragma once

#include "frontend/Budget.h"
#include "frontend/diagnostics/Kinds.h"
#include "frontend/source/SourceManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

namespace quern {

/// A second place that a diagnostic points at, with what is to be seen there.
struct DiagnosticLabel {
  Span span;
  std::string text;
};

/// Text that takes the place of a span; an empty span inserts.
struct DiagnosticEdit {
  Span span;
  std::string text;
};

struct SourceDiagnostic {
  const DiagnosticInfo *info = nullptr;
  Span span; ///< invalid when the diagnostic has no place
  std::string message;
  std::vector<DiagnosticLabel> labels;
  std::vector<std::string> notes;
  std::string hint;
  /// Applied together they fix the mistake; empty where a person must decide.
  std::vector<DiagnosticEdit> fix;

  std::string code() const; ///< "QN0123"
};

/// Lets an emit site add labels, notes and a hint to what it just reported.
class DiagnosticBuilder {
public:
  explicit DiagnosticBuilder(SourceDiagnostic *diagnostic)
      : diagnostic(diagnostic) {}
  DiagnosticBuilder &label(Span span, const llvm::Twine &text) {
    if (diagnostic)
      diagnostic->labels.push_back({span, text.str()});
    return *this;
  }
  DiagnosticBuilder &note(const llvm::Twine &text) {
    if (diagnostic)
      diagnostic->notes.push_back(text.str());
    return *this;
  }
  DiagnosticBuilder &hint(const llvm::Twine &text) {
    if (diagnostic)
      diagnostic->hint = text.str();
    return *this;
  }
  DiagnosticBuilder &fix(Span span, const llvm::Twine &text) {
    if (diagnostic)
      diagnostic->fix.push_back({span, text.str()});
    return *this;
  }

private:
  SourceDiagnostic *diagnostic; ///< null: past the limit, dropped
};

class DiagnosticEngine {
public:
  /// Errors kept; more are only counted, so that memory stays bounded.
  static constexpr unsigned defaultErrorLimit = 100;

  explicit DiagnosticEngine(unsigned errorLimit = defaultErrorLimit)
      : errorLimit(errorLimit) {}

  template <typename... Arguments, typename... Given>
  DiagnosticBuilder report(Span span, const DiagnosticKind<Arguments...> &kind,
                           const Given &...given) {
    static_assert(sizeof...(Arguments) == sizeof...(Given),
                  "arguments must match the diagnostic's row");
    return add(span, kind.info, {argument(Arguments(given))...});
  }

  llvm::ArrayRef<SourceDiagnostic> diagnostics() const { return stored; }
  bool hasErrors() const { return errors != 0; }
  unsigned errorCount() const { return errors; }
  unsigned warningCount() const { return warnings; }
  /// Errors that were counted but not kept.
  unsigned suppressedCount() const { return suppressed; }
  /// A stage that sees this may stop: nothing more will be kept.
  bool limitReached() const { return errors >= errorLimit || isStopped(); }

  /// What the text may cost, and who waits for what is found: once `stop` is
  /// requested nobody does.
  void setLimits(const TextLimits &limits, std::stop_token stop = {}) {
    mostTokens = limits.tokens;
    constants = Budget(limits.steps, stop);
    waiting = std::move(stop);
  }
  std::uint64_t tokenLimit() const { return mostTokens; }
  /// Of making the constants of the text.
  Budget &constantBudget() { return constants; }
  bool isStopped() const { return waiting.stop_requested(); }
  /// From here on the work is done to its end; gives what `resume` takes.
  std::stop_token holdOn() { return std::exchange(waiting, {}); }
  void resume(std::stop_token stop) { waiting = std::move(stop); }
  /// Orders what is stored by place; stages report in their own order.
  void sort();

private:
  static std::string argument(llvm::StringRef text) { return text.str(); }
  static std::string argument(std::int64_t number) {
    return llvm::itostr(number);
  }
  DiagnosticBuilder add(Span span, const DiagnosticInfo &info,
                        llvm::ArrayRef<std::string> arguments);

  std::uint64_t mostTokens = TextLimits().tokens;
  Budget constants{TextLimits().steps};
  std::stop_token waiting;
  std::vector<SourceDiagnostic> stored;
  unsigned errorLimit, errors = 0, warnings = 0, suppressed = 0;
};

} // namespace quern
