// Changes of a text: fixes of mistakes, and formatting.
#include "frontend/Frontend.h"
#include "frontend/diagnostics/Fix.h"
#include "frontend/format/Format.h"
#include "frontend/lex/Lexer.h"
#include "frontend/server/Features.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

/// One edit that makes `after` of the document: without what begins and ends
/// both, so that the cursor keeps its place. Lines stay whole.
static json::Array replaceText(const Request &request, llvm::StringRef after) {
  llvm::StringRef before = request.document.text;
  if (before == after)
    return {};
  std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && before[head] == after[head])
    ++head;
  head = before.take_front(head).rfind('\n') + 1;
  while (tail < shorter - head &&
         before[before.size() - tail - 1] == after[after.size() - tail - 1])
    ++tail;
  std::size_t kept = before.take_back(tail).find('\n');
  tail = kept == llvm::StringRef::npos ? 0 : tail - kept - 1;
  Span span = request.analysis.span(head, before.size() - tail);
  json::Array edits;
  edits.push_back(request.edit(span, after.slice(head, after.size() - tail)));
  return edits;
}

Reply server::formatting(const Request &request) {
  DiagnosticEngine diagnostics;
  TokenBuffer tokens = lex(*request.analysis.file, diagnostics);
  std::unique_ptr<ast::Module> tree = parse(tokens, diagnostics);
  if (diagnostics.hasErrors())
    return Reply(ErrorCode::RequestFailed,
                 "a text with syntax errors is left as it is");
  return Reply(replaceText(request, format(tokens)));
}

static bool isFixable(const Analysis &analysis,
                      const SourceDiagnostic &diagnostic) {
  return !diagnostic.fix.empty() &&
         llvm::all_of(diagnostic.fix, [&](const DiagnosticEdit &edit) {
           return analysis.contains(edit.span);
         });
}

static json::Object fixOf(const Request &request,
                          const SourceDiagnostic &diagnostic) {
  json::Array edits;
  for (const DiagnosticEdit &edit : diagnostic.fix)
    edits.push_back(request.edit(edit.span, edit.text));
  std::string title =
      diagnostic.hint.empty() ? "fix: " + diagnostic.message : diagnostic.hint;
  return json::Object{
      {"title", jsonText(title)},
      {"kind", "quickfix"},
      {"isPreferred", true},
      {"diagnostics", json::Array{jsonDiagnostic(
                          request.workspace, request.document, diagnostic)}},
      {"edit", request.workspaceEdit(std::move(edits))}};
}

/// Whether the editor asked for this kind of action, or for none in particular.
static bool isWanted(const Request &request, llvm::StringRef kind) {
  const json::Object *context = request.params.getObject("context");
  const json::Array *only = context ? context->getArray("only") : nullptr;
  return !only || llvm::any_of(*only, [&](const json::Value &each) {
    llvm::StringRef wanted = each.getAsString().value_or("?");
    return kind.starts_with(wanted) &&
           (kind.size() == wanted.size() || wanted.empty() ||
            kind[wanted.size()] == '.');
  });
}

Reply server::codeActions(const Request &request) {
  const Analysis &analysis = request.analysis;
  auto [begin, end] = request.range();
  json::Array actions;
  for (const SourceDiagnostic &each : analysis.diagnostics.diagnostics()) {
    bool isHere = analysis.contains(each.span) &&
                  analysis.offset(each.span.begin) <= end &&
                  begin <= analysis.offset(each.span.end);
    if (isHere && isFixable(analysis, each) && isWanted(request, "quickfix"))
      actions.push_back(fixOf(request, each));
  }
  unsigned applied = 0;
  std::string fixed = applyFixes(*analysis.file, analysis.diagnostics, applied);
  constexpr llvm::StringLiteral whole = "source.fixAll.quern";
  if (applied != 0 && isWanted(request, whole))
    actions.push_back(json::Object{
        {"title", "fix all mistakes whose fix is certain"},
        {"kind", whole},
        {"edit", request.workspaceEdit(replaceText(request, fixed))}});
  return Reply(std::move(actions));
}
