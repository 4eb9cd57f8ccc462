// Turns collected diagnostics into an Error.
#include "jit/bind/Report.h"

#include "frontend/diagnostics/Render.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;

Error quern::jit::toError(const DiagnosticEngine &engine,
                          const SourceManager &sources) {
  Error error;
  llvm::raw_string_ostream text(error.message);
  for (const SourceDiagnostic &each : engine.diagnostics()) {
    Diagnostic out;
    out.code = each.code();
    out.severity = nameOf(each.info->severity).str();
    out.message = each.message;
    if (each.span.valid()) {
      SourceLocation place = sources.locate(each.span.begin);
      out.file = place.file->name().str();
      out.line = static_cast<int>(place.line);
      out.column = static_cast<int>(place.column);
    }
    renderText(each, sources, text, /*color=*/false);
    error.diagnostics.push_back(std::move(out));
  }
  while (llvm::StringRef(error.message).ends_with("\n"))
    error.message.pop_back();
  return error;
}

std::string quern::jit::shapeText(llvm::ArrayRef<std::int64_t> sizes) {
  std::string text = "[";
  for (std::int64_t size : sizes)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}
