// Diagnostics as the protocol has them.
#include "frontend/server/Features.h"
#include "frontend/server/Uri.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

/// `DiagnosticSeverity`.
static int severityNumber(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return 1;
  case Severity::Warning:
    return 2;
  case Severity::Note:
    return 3;
  }
  llvm_unreachable("all severities have a number");
}

/// The place in this document: of a mistake in a module that it uses, the name
/// of that module.
static Span placeIn(const Analysis &analysis, Span span) {
  if (!span.valid() || analysis.contains(span))
    return span;
  for (const NameUse &use : analysis.uses)
    if (use.target.kind == NameTarget::Kind::Module &&
        use.target.definition.begin <= span.begin &&
        span.begin <= use.target.definition.end)
      return use.span;
  return {};
}

static json::Array relatedPlaces(Workspace &workspace,
                                 const SourceDiagnostic &diagnostic,
                                 const Analysis &analysis) {
  json::Array related;
  auto add = [&](Span span, llvm::StringRef text) {
    json::Value place = workspace.location(span);
    if (place.getAsObject())
      related.push_back(json::Object{{"location", std::move(place)},
                                     {"message", jsonText(text)}});
  };
  if (diagnostic.span.valid() && !analysis.contains(diagnostic.span))
    add(diagnostic.span, diagnostic.message);
  for (const DiagnosticLabel &label : diagnostic.labels)
    add(label.span, label.text);
  return related;
}

/// The message with what stands below it on a terminal.
static std::string wholeMessage(const SourceDiagnostic &diagnostic) {
  std::string text = diagnostic.message;
  for (const std::string &note : diagnostic.notes)
    text += "\nnote: " + note;
  if (!diagnostic.hint.empty())
    text += "\nhint: " + diagnostic.hint;
  return text;
}

json::Value server::jsonDiagnostic(Workspace &workspace, Document &document,
                                   const SourceDiagnostic &diagnostic) {
  const Analysis &analysis = *document.analysis;
  Span span = placeIn(analysis, diagnostic.span);
  json::Object made{
      {"range", span.valid() ? workspace.range(span) : jsonRange({}, {})},
      {"severity", severityNumber(diagnostic.info->severity)},
      {"code", diagnostic.code()},
      {"source", "quern"},
      {"message", jsonText(wholeMessage(diagnostic))}};
  std::string page = workspace.host.fileOf(diagnostic.code() + ".md");
  if (!page.empty())
    made["codeDescription"] = json::Object{{"href", uriOfPath(page)}};
  // `DiagnosticTag::Unnecessary`: editors show such text faded.
  if (diagnostic.info->name.starts_with("Unused"))
    made["tags"] = json::Array{1};
  json::Array related = relatedPlaces(workspace, diagnostic, analysis);
  if (!related.empty())
    made["relatedInformation"] = std::move(related);
  return made;
}

json::Value server::publishedDiagnostics(Workspace &workspace,
                                         Document &document) {
  json::Array list;
  if (document.analysis)
    for (const SourceDiagnostic &each :
         document.analysis->diagnostics.diagnostics())
      list.push_back(jsonDiagnostic(workspace, document, each));
  return json::Object{{"uri", jsonText(document.uri)},
                      {"version", document.version},
                      {"diagnostics", std::move(list)}};
}
