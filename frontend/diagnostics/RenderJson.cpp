// Diagnostics for programs: JSON lines, and SARIF for code hosts.
#include "frontend/diagnostics/Render.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
namespace json = llvm::json;

/// Text comes from sources, but a cut may leave half a character.
static std::string clean(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

static void writePlace(json::OStream &out, const SourceManager &sources,
                       Span span) {
  SourceLocation begin = sources.locate(span.begin);
  SourceLocation end = sources.locate(span.end);
  out.attributeObject("span", [&] {
    out.attribute("column", begin.column);
    out.attribute("endColumn", end.column);
    out.attribute("endLine", end.line);
    out.attribute("file", clean(begin.file->name()));
    out.attribute("line", begin.line);
  });
}

static bool hasPlace(const SourceManager &sources, Span span) {
  return span.valid() && sources.fileOf(span.begin);
}

/// The labels whose place is known.
static llvm::SmallVector<const DiagnosticLabel *, 4>
placedLabels(const SourceDiagnostic &diagnostic, const SourceManager &sources) {
  llvm::SmallVector<const DiagnosticLabel *, 4> result;
  for (const DiagnosticLabel &label : diagnostic.labels)
    if (hasPlace(sources, label.span))
      result.push_back(&label);
  return result;
}

/// Attributes in the order of the alphabet, here and below.
static void writeJson(json::OStream &out, const SourceDiagnostic &diagnostic,
                      const SourceManager &sources) {
  auto labels = placedLabels(diagnostic, sources);
  out.object([&] {
    out.attribute("code", diagnostic.code());
    if (!diagnostic.fix.empty())
      out.attributeArray("fix", [&] {
        for (const DiagnosticEdit &edit : diagnostic.fix)
          out.object([&] {
            out.attribute("replacement", clean(edit.text));
            writePlace(out, sources, edit.span);
          });
      });
    if (!diagnostic.hint.empty())
      out.attribute("hint", clean(diagnostic.hint));
    if (!labels.empty())
      out.attributeArray("labels", [&] {
        for (const DiagnosticLabel *label : labels)
          out.object([&] {
            out.attribute("message", clean(label->text));
            writePlace(out, sources, label->span);
          });
      });
    out.attribute("message", clean(diagnostic.message));
    if (!diagnostic.notes.empty())
      out.attributeArray("notes", [&] {
        for (const std::string &note : diagnostic.notes)
          out.value(clean(note));
      });
    out.attribute("severity", nameOf(diagnostic.info->severity));
    if (hasPlace(sources, diagnostic.span))
      writePlace(out, sources, diagnostic.span);
  });
}

void quern::renderJson(const DiagnosticEngine &diagnostics,
                       const SourceManager &sources, llvm::raw_ostream &out) {
  for (const SourceDiagnostic &diagnostic : diagnostics.diagnostics()) {
    json::OStream line(out);
    writeJson(line, diagnostic, sources);
    line.flush();
    out << '\n';
  }
}

/// SARIF counts characters where a SourceLocation counts bytes.
static std::int64_t characterColumn(const SourceManager &sources,
                                    const SourceLocation &place) {
  llvm::StringRef line = sources.lineText(*place.file, place.line);
  return 1 + llvm::count_if(line.take_front(place.column - 1), [](char c) {
           return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
         });
}

/// A path as a relative URI: what has no place in one is written in percents.
static std::string uriOf(llvm::StringRef path) {
  std::string uri;
  for (char c : path) {
    bool isPlain = llvm::isAlnum(c) || llvm::StringRef("-._~/").contains(c);
    if (isPlain)
      uri += c;
    else
      uri += "%" + llvm::utohexstr(static_cast<unsigned char>(c), false, 2);
  }
  return uri;
}

static void writeLocation(json::OStream &out, const SourceManager &sources,
                          Span span) {
  SourceLocation begin = sources.locate(span.begin);
  SourceLocation end = sources.locate(span.end);
  out.attributeObject("physicalLocation", [&] {
    out.attributeObject("artifactLocation", [&] {
      out.attribute("uri", uriOf(clean(begin.file->name())));
    });
    out.attributeObject("region", [&] {
      out.attribute("endColumn", characterColumn(sources, end));
      out.attribute("endLine", end.line);
      out.attribute("startColumn", characterColumn(sources, begin));
      out.attribute("startLine", begin.line);
    });
  });
}

static void writeText(json::OStream &out, llvm::StringRef attribute,
                      llvm::StringRef text) {
  out.attributeObject(attribute, [&] { out.attribute("text", text); });
}

static void writeResult(json::OStream &out, const SourceDiagnostic &diagnostic,
                        const SourceManager &sources) {
  auto labels = placedLabels(diagnostic, sources);
  std::string message = clean(diagnostic.message);
  if (!diagnostic.hint.empty())
    message += "; " + clean(diagnostic.hint);
  out.object([&] {
    out.attribute("level", nameOf(diagnostic.info->severity));
    if (hasPlace(sources, diagnostic.span))
      out.attributeArray("locations", [&] {
        out.object([&] { writeLocation(out, sources, diagnostic.span); });
      });
    writeText(out, "message", message);
    if (!labels.empty())
      out.attributeArray("relatedLocations", [&] {
        for (const DiagnosticLabel *label : labels)
          out.object([&] {
            writeText(out, "message", clean(label->text));
            writeLocation(out, sources, label->span);
          });
      });
    out.attribute("ruleId", diagnostic.code());
  });
}

/// Each kind of diagnostic once, in the order of its first result.
static void writeRules(json::OStream &out,
                       const DiagnosticEngine &diagnostics) {
  llvm::SmallPtrSet<const DiagnosticInfo *, 8> seen;
  for (const SourceDiagnostic &diagnostic : diagnostics.diagnostics()) {
    if (!seen.insert(diagnostic.info).second)
      continue;
    out.object([&] {
      out.attribute("id", diagnostic.code());
      out.attribute("name", diagnostic.info->name);
      writeText(out, "shortDescription", diagnostic.info->text);
    });
  }
}

static void writeRun(json::OStream &out, const DiagnosticEngine &diagnostics,
                     const SourceManager &sources) {
  out.attribute("columnKind", "unicodeCodePoints");
  out.attributeArray("results", [&] {
    for (const SourceDiagnostic &diagnostic : diagnostics.diagnostics())
      writeResult(out, diagnostic, sources);
  });
  out.attributeObject("tool", [&] {
    out.attributeObject("driver", [&] {
      out.attribute("name", "quern");
      out.attributeArray("rules", [&] { writeRules(out, diagnostics); });
    });
  });
}

void quern::renderSarif(const DiagnosticEngine &diagnostics,
                        const SourceManager &sources, llvm::raw_ostream &out) {
  json::OStream log(out, /*IndentSize=*/2);
  log.object([&] {
    log.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    log.attributeArray("runs", [&] {
      log.object([&] { writeRun(log, diagnostics, sources); });
    });
    log.attribute("version", "2.1.0");
  });
  log.flush();
  out << '\n';
}
