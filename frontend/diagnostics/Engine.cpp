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

/// What a placeholder stands for: `N` is argument N, `N:one|many` argument N
/// and the form that goes with its number, `aN` argument N after its article.
static std::string placeholder(llvm::StringRef inside,
                               llvm::ArrayRef<std::string> arguments) {
  bool article = inside.consume_front("a");
  auto [number, forms] = inside.split(':');
  std::size_t index = number.front() - '0';
  assert(index < arguments.size() && "placeholder without an argument");
  llvm::StringRef given = arguments[index];
  if (article)
    return ((llvm::StringRef("aeio").contains(given.front()) ? "an `" : "a `") +
            given + "`")
        .str();
  auto [one, many] = forms.split('|');
  if (forms.empty())
    return given.str();
  return (given + " " + (given == "1" ? one : many)).str();
}

/// Replaces the placeholders of `text`; other braces stay.
static std::string fillIn(llvm::StringRef text,
                          llvm::ArrayRef<std::string> arguments) {
  std::string result;
  while (!text.empty()) {
    auto [before, rest] = text.split('{');
    result += before;
    if (before.size() == text.size())
      break;
    llvm::StringRef number = rest;
    number.consume_front("a");
    if (number.empty() || !llvm::isDigit(number.front())) {
      result += '{';
      text = rest;
      continue;
    }
    auto [inside, after] = rest.split('}');
    result += placeholder(inside, arguments);
    text = after;
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
