// Turns collected diagnostics into an Error.
#include "jit/bind/Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace quern;

static llvm::StringRef severityText(Severity severity) {
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    return "error";
  }
  return "";
}

Error quern::jit::toError(const DiagnosticEngine &engine,
                          const SourceManager &sources) {
  Error error;
  for (const SourceDiagnostic &each : engine.diagnostics()) {
    Diagnostic out;
    out.code = each.code();
    out.severity = severityText(each.info->severity).str();
    out.message = each.message;
    if (each.span.valid()) {
      SourceLocation place = sources.locate(each.span.begin);
      out.file = place.file->name().str();
      out.line = static_cast<int>(place.line);
      out.column = static_cast<int>(place.column);
      error.message +=
          llvm::formatv("{0}:{1}:{2}: ", out.file, out.line, out.column);
    }
    error.message +=
        llvm::formatv("{0}[{1}]: {2}\n", out.severity, out.code, out.message);
    if (!each.hint.empty())
      error.message += "  hint: " + each.hint + "\n";
    error.diagnostics.push_back(std::move(out));
  }
  if (!error.message.empty())
    error.message.pop_back();
  return error;
}

std::string quern::jit::shapeText(llvm::ArrayRef<std::int64_t> sizes) {
  std::string text = "[";
  for (std::int64_t size : sizes)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}
