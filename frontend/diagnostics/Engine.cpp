// Filling in the text of diagnostics and keeping them within a limit.
#include "frontend/diagnostics/Engine.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace quern;

static constexpr DiagnosticInfo catalogue[] = {
#define QN_DIAGNOSTIC(code, name, severity, text, ...)                         \
  {code, Severity::severity, #name, text},
#include "frontend/diagnostics/Diagnostics.def"
};

static constexpr bool codesAscend() {
  for (std::size_t i = 1; i < std::size(catalogue); ++i)
    if (catalogue[i - 1].code >= catalogue[i].code)
      return false;
  return true;
}
static_assert(codesAscend(), "diagnostic codes must be unique and ascend");

llvm::ArrayRef<DiagnosticInfo> quern::diagnosticCatalogue() {
  return catalogue;
}

std::string SourceDiagnostic::code() const {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("QN%04u", info->code);
  return text;
}

/// Replaces `{0}`, `{1}`, … in `text`.
static std::string fillIn(llvm::StringRef text,
                          llvm::ArrayRef<std::string> arguments) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool placeholder = text[i] == '{' && i + 2 < text.size() &&
                       text[i + 2] == '}' && llvm::isDigit(text[i + 1]);
    if (!placeholder) {
      result += text[i];
      continue;
    }
    std::size_t index = text[i + 1] - '0';
    assert(index < arguments.size() && "placeholder without an argument");
    result += arguments[index];
    i += 2;
  }
  return result;
}

DiagnosticBuilder DiagnosticEngine::add(Span span, const DiagnosticInfo &info,
                                        llvm::ArrayRef<std::string> arguments) {
  bool isError = info.severity == Severity::Error;
  bool full = isError ? errors >= errorLimit : warnings >= errorLimit;
  ++(isError ? errors : warnings);
  if (full) {
    suppressed += isError;
    return DiagnosticBuilder(nullptr);
  }
  SourceDiagnostic &diagnostic = stored.emplace_back();
  diagnostic.info = &info;
  diagnostic.span = span;
  diagnostic.message = fillIn(info.text, arguments);
  return DiagnosticBuilder(&diagnostic);
}

void DiagnosticEngine::sort() {
  std::vector<std::size_t> order(stored.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(stored[a].span.begin, a) <
           std::pair(stored[b].span.begin, b);
  });
  std::vector<SourceDiagnostic> sorted;
  sorted.reserve(stored.size());
  for (std::size_t index : order)
    sorted.push_back(std::move(stored[index]));
  stored = std::move(sorted);
}
