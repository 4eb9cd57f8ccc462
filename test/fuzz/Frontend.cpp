// Fuzz target: whatever the bytes, the front end neither crashes nor hangs, and
// formatting keeps the tree.
#include "frontend/Frontend.h"
#include "frontend/ast/Print.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/format/Format.h"
#include "frontend/lex/Lexer.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace quern;

static std::string dump(const ast::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ast::print(module, out);
  return text;
}

/// Formats what parses: the tree stays, and a second time changes nothing.
static void checkFormat(const TokenBuffer &tokens, const ast::Module &module) {
  std::string once = format(tokens);
  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile *file = sources.add("formatted.qn", once);
  TokenBuffer again = lex(*file, diagnostics);
  std::unique_ptr<ast::Module> reparsed = parse(again, diagnostics);
  bool faithful = !diagnostics.hasErrors() && dump(module) == dump(*reparsed) &&
                  format(again) == once;
  if (!faithful) {
    llvm::errs() << "formatting is not faithful:\n" << once;
    std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  const SourceFile *file = sources.add("fuzz.qn", text);
  TokenBuffer tokens = lex(*file, diagnostics);
  std::unique_ptr<ast::Module> module = parse(tokens, diagnostics);
  if (!diagnostics.hasErrors()) {
    checkFormat(tokens, *module);
    return 0;
  }
  diagnostics.sort();
  std::string rendered;
  llvm::raw_string_ostream out(rendered);
  renderText(diagnostics, sources, out, false);
  renderJson(diagnostics, sources, out);
  renderSarif(diagnostics, sources, out);
  return 0;
}
