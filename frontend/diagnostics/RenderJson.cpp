// Diagnostics for programs: JSON lines, and SARIF for code hosts.
#include "frontend/diagnostics/Render.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace quern;
namespace json = llvm::json;

/// Text comes from sources, but a cut may leave half a character.
static std::string clean(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

static json::Object placeOf(const SourceManager &sources, Span span) {
  SourceLocation begin = sources.locate(span.begin);
  SourceLocation end = sources.locate(span.end);
  return json::Object{{"file", clean(begin.file->name())},
                      {"line", begin.line},
                      {"column", begin.column},
                      {"endLine", end.line},
                      {"endColumn", end.column}};
}

static bool hasPlace(const SourceManager &sources, Span span) {
  return span.valid() && sources.fileOf(span.begin);
}

static json::Object toJson(const SourceDiagnostic &diagnostic,
                           const SourceManager &sources) {
  json::Object object{{"code", diagnostic.code()},
                      {"severity", nameOf(diagnostic.info->severity)},
                      {"message", clean(diagnostic.message)}};
  if (hasPlace(sources, diagnostic.span))
    object["span"] = placeOf(sources, diagnostic.span);
  json::Array labels, notes;
  for (const DiagnosticLabel &label : diagnostic.labels)
    if (hasPlace(sources, label.span))
      labels.push_back(json::Object{{"span", placeOf(sources, label.span)},
                                    {"message", clean(label.text)}});
  for (const std::string &note : diagnostic.notes)
    notes.push_back(clean(note));
  if (!labels.empty())
    object["labels"] = std::move(labels);
  if (!notes.empty())
    object["notes"] = std::move(notes);
  if (!diagnostic.hint.empty())
    object["hint"] = clean(diagnostic.hint);
  return object;
}

void quern::renderJson(const DiagnosticEngine &diagnostics,
                       const SourceManager &sources, llvm::raw_ostream &out) {
  for (const SourceDiagnostic &diagnostic : diagnostics.diagnostics())
    out << json::Value(toJson(diagnostic, sources)) << '\n';
}

/// SARIF counts characters where a SourceLocation counts bytes.
static std::int64_t characterColumn(const SourceManager &sources,
                                    const SourceLocation &place) {
  llvm::StringRef line = sources.lineText(*place.file, place.line);
  return 1 + llvm::count_if(line.take_front(place.column - 1), [](char c) {
           return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
         });
}

static json::Object sarifLocation(const SourceManager &sources, Span span) {
  SourceLocation begin = sources.locate(span.begin);
  SourceLocation end = sources.locate(span.end);
  json::Object region{{"startLine", begin.line},
                      {"startColumn", characterColumn(sources, begin)},
                      {"endLine", end.line},
                      {"endColumn", characterColumn(sources, end)}};
  json::Object artifact{{"uri", clean(begin.file->name())}};
  return json::Object{{"physicalLocation",
                       json::Object{{"artifactLocation", std::move(artifact)},
                                    {"region", std::move(region)}}}};
}

static json::Object sarifResult(const SourceDiagnostic &diagnostic,
                                const SourceManager &sources) {
  std::string message = clean(diagnostic.message);
  if (!diagnostic.hint.empty())
    message += "; " + clean(diagnostic.hint);
  json::Object result{{"ruleId", diagnostic.code()},
                      {"level", nameOf(diagnostic.info->severity)},
                      {"message", json::Object{{"text", message}}}};
  if (hasPlace(sources, diagnostic.span))
    result["locations"] = json::Array{sarifLocation(sources, diagnostic.span)};
  json::Array related;
  for (const DiagnosticLabel &label : diagnostic.labels) {
    if (!hasPlace(sources, label.span))
      continue;
    json::Object place = sarifLocation(sources, label.span);
    place["message"] = json::Object{{"text", clean(label.text)}};
    related.push_back(std::move(place));
  }
  if (!related.empty())
    result["relatedLocations"] = std::move(related);
  return result;
}

void quern::renderSarif(const DiagnosticEngine &diagnostics,
                        const SourceManager &sources, llvm::raw_ostream &out) {
  json::Array results, rules;
  std::set<std::string> seen;
  for (const SourceDiagnostic &diagnostic : diagnostics.diagnostics()) {
    results.push_back(sarifResult(diagnostic, sources));
    if (!seen.insert(diagnostic.code()).second)
      continue;
    rules.push_back(json::Object{
        {"id", diagnostic.code()},
        {"name", diagnostic.info->name},
        {"shortDescription", json::Object{{"text", diagnostic.info->text}}}});
  }
  json::Object driver{{"name", "quern"}, {"rules", std::move(rules)}};
  json::Object run{{"tool", json::Object{{"driver", std::move(driver)}}},
                   {"columnKind", "unicodeCodePoints"},
                   {"results", std::move(results)}};
  json::Object log{{"version", "2.1.0"},
                   {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"runs", json::Array{std::move(run)}}};
  out << llvm::formatv("{0:2}\n", json::Value(std::move(log)));
}
