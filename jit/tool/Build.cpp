// `quern build --emit=tokens|ast|typed`; later stages are the compiler
// library's.
#include "frontend/Frontend.h"
#include "frontend/ast/Print.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/lex/Lexer.h"
#include "jit/tool/Json.h"
#include "jit/tool/Library.h"
#include "jit/tool/Output.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace quern;

static void emitTyped(llvm::StringRef path, const ast::Module &tree,
                      SourceManager &sources, DiagnosticEngine &diagnostics,
                      llvm::raw_ostream &out) {
  tool::ToolLibrary library(sources);
  typed::print(*library.check(tree, path, diagnostics), out);
}

static std::string stageText(llvm::StringRef stage, const SourceFile &file,
                             llvm::StringRef path, SourceManager &sources,
                             DiagnosticEngine &diagnostics) {
  std::string text;
  llvm::raw_string_ostream out(text);
  TokenBuffer tokens = lex(file, diagnostics);
  if (stage == "tokens")
    printTokens(tokens, sources, out);
  else if (stage == "ast")
    ast::print(*parse(tokens, diagnostics), out);
  else
    emitTyped(path, *parse(tokens, diagnostics), sources, diagnostics, out);
  return text;
}

/// The text as JSON.
static std::string jsonOf(llvm::StringRef stage, llvm::StringRef text) {
  std::string whole;
  llvm::raw_string_ostream out(whole);
  tool::JsonLines(out).line([&](llvm::json::OStream &json) {
    json.attribute("stage", stage);
    json.attribute("text", llvm::json::fixUTF8(text));
  });
  return whole;
}

static int emitSyntax(llvm::StringRef stage, llvm::StringRef path,
                      llvm::StringRef output, bool asJson) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  if (const SourceFile *file = loadSource(sources, path, diagnostics)) {
    std::string text = stageText(stage, *file, path, sources, diagnostics);
    if (asJson)
      text = jsonOf(stage, text);
    // What could be read of a text with errors is shown, but files hold only
    // whole ones.
    bool isWanted = output == "-" || !diagnostics.hasErrors();
    std::string problem = isWanted ? tool::writeOutput(output, text) : "";
    if (!problem.empty()) {
      llvm::errs() << "quern: " << problem << '\n';
      return tool::failure;
    }
  }
  llvm::outs().flush();
  diagnostics.sort();
  renderText(diagnostics, sources, llvm::errs(),
             tool::useColor(tool::ColorMode::Auto, STDERR_FILENO));
  return diagnostics.hasErrors() ? tool::failure : tool::success;
}

int tool::build(Arguments arguments) {
  llvm::StringRef stage, path, output = "-";
  unsigned files = 0;
  bool isKnown = true, asJson = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    if (takeOption(argument, "--emit", stage) ||
        takeOption(argument, "--output", output))
      continue;
    if (argument == "--json")
      asJson = true;
    else if (argument == "-o" && i + 1 < arguments.size())
      output = arguments[++i];
    else if (argument == "-" || !argument.starts_with("-"))
      path = argument, ++files;
    else
      isKnown = false;
  }
  if (stage != "tokens" && stage != "ast" && stage != "typed")
    return forward("build", arguments);
  if (!isKnown || files != 1)
    return usageError("`build --emit=" + stage + "` takes one file" +
                      (files == 2 ? ", which it shows whole" : ""));
  return emitSyntax(stage, path, output, asJson);
}

int tool::run(Arguments arguments) { return forward("run", arguments); }

int tool::ops(Arguments arguments) { return forward("ops", arguments); }
