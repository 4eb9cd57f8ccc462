// `quern check`: reads and checks files, prints diagnostics.
#include "frontend/Frontend.h"
#include "frontend/diagnostics/Fix.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/diagnostics/Verify.h"
#include "jit/tool/Library.h"
#include "jit/tool/Output.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace quern;

static constexpr llvm::StringLiteral help =
    R"(usage: quern check [options] FILE...

  --json                 one JSON object a diagnostic, on standard output
  --sarif                a SARIF 2.1.0 log, on standard output
  --verify-diagnostics   compare with `# expected-error {{…}}` comments
  --fix                  change the files where the fix of a mistake is certain
  --error-limit=N        stop after N errors (100)
  --color=WHEN           auto, always or never

`-` reads standard input.
)";

namespace {

enum class Format : std::uint8_t { Text, Json, Sarif, Verify };

struct CheckOptions {
  Format format = Format::Text;
  tool::ColorMode color = tool::ColorMode::Auto;
  unsigned errorLimit = DiagnosticEngine::defaultErrorLimit;
  bool fix = false;
  llvm::SmallVector<llvm::StringRef, 8> files;
};

} // namespace

/// False when the option is unknown or malformed.
static bool readOption(llvm::StringRef argument, CheckOptions &options) {
  llvm::StringRef value;
  if (argument == "--json")
    options.format = Format::Json;
  else if (argument == "--sarif")
    options.format = Format::Sarif;
  else if (argument == "--verify-diagnostics")
    options.format = Format::Verify;
  else if (argument == "--fix")
    options.fix = true;
  else if (tool::takeOption(argument, "--error-limit", value))
    return !value.getAsInteger(10, options.errorLimit) &&
           options.errorLimit > 0;
  else if (tool::takeOption(argument, "--color", value))
    return tool::parseColorMode(value, options.color);
  else
    return false;
  return true;
}

static void checkText(llvm::StringRef path, const SourceFile &file,
                      tool::ToolLibrary &library,
                      DiagnosticEngine &diagnostics) {
  std::unique_ptr<ast::Module> tree = parse(file, diagnostics);
  library.check(*tree, path, diagnostics);
}

static int verify(const CheckOptions &options) {
  bool good = true;
  SourceManager sources;
  tool::ToolLibrary library(sources);
  for (llvm::StringRef path : options.files) {
    DiagnosticEngine diagnostics(options.errorLimit);
    const SourceFile *file = loadSource(sources, path, diagnostics);
    if (!file) {
      renderText(diagnostics, sources, llvm::errs(), false);
      return tool::failure;
    }
    checkText(path, *file, library, diagnostics);
    good &= verifyDiagnostics(diagnostics, sources, *file, llvm::errs());
  }
  return good ? tool::success : tool::failure;
}

/// Fixes a file until nothing more can be: a fix may let the checker see more.
/// Gives "", or why the file could not be written.
static std::string fixFile(llvm::StringRef path) {
  constexpr unsigned mostRounds = 64;
  constexpr unsigned errorLimit = 100000;
  for (unsigned round = 0; round != mostRounds; ++round) {
    SourceManager sources;
    tool::ToolLibrary library(sources);
    DiagnosticEngine diagnostics(errorLimit);
    const SourceFile *file = loadSource(sources, path, diagnostics);
    if (!file)
      return ""; // the check that follows says why
    checkText(path, *file, library, diagnostics);
    diagnostics.sort();
    unsigned applied = 0;
    std::string text = applyFixes(*file, diagnostics, applied);
    if (applied == 0)
      return "";
    if (std::string problem = tool::writeOutput(path, text); !problem.empty())
      return problem;
  }
  return "";
}

static bool fixFiles(const CheckOptions &options) {
  for (llvm::StringRef path : options.files) {
    std::string problem = fixFile(path);
    if (problem.empty())
      continue;
    llvm::errs() << "error: " << problem << '\n';
    return false;
  }
  return true;
}

int tool::check(Arguments arguments) {
  CheckOptions options;
  for (llvm::StringRef argument : arguments) {
    if (argument == "--help") {
      llvm::outs() << help;
      return success;
    }
    if (argument == "-" || !argument.starts_with("-"))
      options.files.push_back(argument);
    else if (!readOption(argument, options))
      return usageError("`check` does not take `" + argument + "`");
  }
  if (options.files.empty())
    return usageError("`check` needs a file");
  if (options.format == Format::Verify)
    return verify(options);
  if (options.fix && llvm::is_contained(options.files, "-"))
    return usageError("`check --fix` changes files, not standard input");
  if (options.fix && !fixFiles(options))
    return failure;

  SourceManager sources;
  ToolLibrary library(sources);
  DiagnosticEngine diagnostics(options.errorLimit);
  for (llvm::StringRef path : options.files)
    if (const SourceFile *file = loadSource(sources, path, diagnostics))
      checkText(path, *file, library, diagnostics);
  diagnostics.sort();
  if (options.format == Format::Json)
    renderJson(diagnostics, sources, llvm::outs());
  else if (options.format == Format::Sarif)
    renderSarif(diagnostics, sources, llvm::outs());
  else
    renderText(diagnostics, sources, llvm::errs(),
               useColor(options.color, STDERR_FILENO));
  return diagnostics.hasErrors() ? failure : success;
}
