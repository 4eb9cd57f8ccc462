// `quern build --emit=tokens|ast|typed`; later stages are the compiler
// library's.
#include "frontend/Frontend.h"
#include "frontend/ast/Print.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/lex/Lexer.h"
#include "jit/tool/Library.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace quern;

static void emitTyped(llvm::StringRef path, const ast::Module &tree,
                      SourceManager &sources, DiagnosticEngine &diagnostics) {
  tool::ToolLibrary library(sources);
  typed::print(*library.check(tree, path, diagnostics), llvm::outs());
}

static int emitSyntax(llvm::StringRef stage, llvm::StringRef path) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  if (const SourceFile *file = loadSource(sources, path, diagnostics)) {
    TokenBuffer tokens = lex(*file, diagnostics);
    if (stage == "tokens")
      printTokens(tokens, sources, llvm::outs());
    else if (stage == "ast")
      ast::print(*parse(tokens, diagnostics), llvm::outs());
    else
      emitTyped(path, *parse(tokens, diagnostics), sources, diagnostics);
  }
  llvm::outs().flush();
  diagnostics.sort();
  renderText(diagnostics, sources, llvm::errs(),
             tool::useColor(tool::ColorMode::Auto, STDERR_FILENO));
  return diagnostics.hasErrors() ? tool::failure : tool::success;
}

int tool::build(Arguments arguments) {
  llvm::StringRef stage, path;
  for (llvm::StringRef argument : arguments)
    if (!takeOption(argument, "--emit", stage) &&
        (argument == "-" || !argument.starts_with("-")))
      path = argument;
  if (stage != "tokens" && stage != "ast" && stage != "typed")
    return forward("build", arguments);
  if (arguments.size() != 2 || path.empty())
    return usageError("`build --emit=" + stage + "` takes one file");
  return emitSyntax(stage, path);
}

int tool::run(Arguments arguments) { return forward("run", arguments); }

int tool::ops(Arguments arguments) { return forward("ops", arguments); }
