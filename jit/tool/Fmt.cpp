// `quern fmt`: formats files in place, or says which are not formatted.
#include "frontend/Frontend.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/format/Format.h"
#include "frontend/lex/Lexer.h"
#include "jit/tool/Json.h"
#include "jit/tool/Output.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace quern;

static constexpr llvm::StringLiteral help =
    R"(usage: quern fmt [options] FILE...

  --check    write nothing; fail when a file is not formatted
  --stdout   write to standard output instead of the file
  --json     one JSON object a file, on standard output: whether it changes

`-` reads standard input and writes standard output. A file with syntax errors
is left as it is.
)";

namespace {

struct FormatOptions {
  bool check = false, toStdout = false, asJson = false;
};

} // namespace

static int formatFile(llvm::StringRef path, const FormatOptions &options) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile *file = loadSource(sources, path, diagnostics);
  std::string formatted;
  if (file) {
    TokenBuffer tokens = lex(*file, diagnostics);
    parse(tokens, diagnostics);
    if (!diagnostics.hasErrors())
      formatted = format(tokens);
  }
  if (diagnostics.hasErrors()) {
    diagnostics.sort();
    renderText(diagnostics, sources, llvm::errs(),
               tool::useColor(tool::ColorMode::Auto, STDERR_FILENO));
    return tool::failure;
  }
  bool same = file->text() == formatted;
  if (options.asJson)
    tool::JsonLines(llvm::outs()).line([&](llvm::json::OStream &out) {
      out.attribute("changes", !same);
      out.attribute("file", path);
    });
  if (options.check) {
    if (!same && !options.asJson)
      llvm::errs() << path << " is not formatted; `quern fmt " << path
                   << "` formats it\n";
    return same ? tool::success : tool::failure;
  }
  if (options.toStdout || path == "-") {
    llvm::outs() << formatted;
    return tool::success;
  }
  std::string problem = same ? "" : tool::writeOutput(path, formatted);
  if (problem.empty())
    return tool::success;
  llvm::errs() << "error: " << problem << '\n';
  return tool::failure;
}

int tool::fmt(Arguments arguments) {
  FormatOptions options;
  llvm::SmallVector<llvm::StringRef, 8> files;
  for (llvm::StringRef argument : arguments) {
    if (argument == "--help") {
      llvm::outs() << help;
      return success;
    }
    if (argument == "--check")
      options.check = true;
    else if (argument == "--stdout")
      options.toStdout = true;
    else if (argument == "--json")
      options.asJson = true;
    else if (argument == "-" || !argument.starts_with("-"))
      files.push_back(argument);
    else
      return usageError("`fmt` does not take `" + argument + "`");
  }
  if (files.empty())
    return usageError("`fmt` needs a file");
  bool printsText = options.toStdout || llvm::is_contained(files, "-");
  if (options.asJson && printsText && !options.check)
    return usageError("`fmt` prints texts or JSON, not both");
  int result = success;
  for (llvm::StringRef file : files)
    result = std::max(result, formatFile(file, options));
  return result;
}
