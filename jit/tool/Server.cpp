// `quern lsp`: the language server over standard input and output.
#include "jit/cache/Variables.h"
#include "jit/session/EmbeddedModules.h"
#include "jit/tool/Library.h"
#include "jit/tool/Output.h"
#include "jit/tool/Pages.h"
#include "jit/tool/Tool.h"

#include "frontend/server/Loop.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace quern;

static constexpr llvm::StringLiteral help =
    R"(usage: quern lsp

A language server: an editor starts it and speaks the language server protocol
over standard input and output. docs/editors says how editors are set up.
`--stdio`, which some editors add, is accepted.
)";

/// A text of this program by its name, or nothing.
static std::optional<llvm::StringRef> embeddedText(llvm::StringRef name) {
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (name == llvm::StringRef(module.path))
      return module.text;
  bool isPage = name.consume_back(".md");
  for (const tool::Page &page : tool::diagnosticPages())
    if (isPage && name == llvm::StringRef(page.code))
      return page.text;
  return std::nullopt;
}

static bool holds(llvm::StringRef path, llvm::StringRef text) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file && (*file)->getBuffer() == text;
}

/// An editor opens files: what it is to show is written into the cache folder,
/// once for each version of the text.
static std::string fileOf(llvm::StringRef name) {
  std::optional<llvm::StringRef> text = embeddedText(name);
  std::string folder = jit::defaultCacheFolder();
  if (!text || folder.empty())
    return "";
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "texts", QUERN_VERSION, name);
  if (holds(path, *text))
    return path.str().str();
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  bool isMade = !llvm::sys::fs::create_directories(parent) &&
                tool::writeOutput(path, *text).empty();
  return isMade ? path.str().str() : "";
}

static std::size_t readInput(char *to, std::size_t size) {
  ssize_t count = 0;
  do
    count = ::read(STDIN_FILENO, to, size);
  while (count < 0 && errno == EINTR);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

static server::Host makeHost() {
  server::Host host;
  host.version = QUERN_VERSION;
  host.library = tool::findEmbedded;
  host.preludeModules = tool::preludeNames();
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    host.modules.emplace_back(module.name);
  // A page is asked for with every message: each is compared once.
  auto known = std::make_shared<llvm::StringMap<std::string>>();
  host.fileOf = [known](llvm::StringRef name) {
    auto [place, isNew] = known->try_emplace(name);
    if (isNew)
      place->second = ::fileOf(name);
    return place->second;
  };
  return host;
}

int tool::lsp(Arguments arguments) {
  for (llvm::StringRef argument : arguments) {
    if (argument == "--help") {
      llvm::outs() << ::help;
      return success;
    }
    if (argument != "--stdio")
      return usageError("`lsp` does not take `" + argument + "`");
  }
  bool hasEndedWell =
      server::serve(makeHost(), readInput, [](llvm::StringRef bytes) {
        llvm::outs() << bytes;
        llvm::outs().flush();
      });
  return hasEndedWell ? success : failure;
}
