// Runs the front end over one version of a text.
#include "frontend/Frontend.h"
#include "frontend/lex/Lexer.h"
#include "frontend/server/Workspace.h"

#include "llvm/Support/Path.h"

using namespace quern;
using namespace quern::server;

std::unique_ptr<Analysis>
Analysis::make(SourceManager &sources, ModuleLibrary &library,
               ModuleLoader loader, llvm::StringRef path, llvm::StringRef text,
               std::stop_token stop) {
  const SourceFile *file = sources.add(path, text);
  if (!file)
    return nullptr;
  std::unique_ptr<Analysis> made(new Analysis(sources, *file));
  made->diagnostics.setLimits(TextLimits(), std::move(stop));
  made->tokens = lex(*file, made->diagnostics);
  made->tree = parse(*made->tokens, made->diagnostics);
  made->library = std::make_unique<ModuleLibrary>(library, std::move(loader));
  NameIndex names(*file);
  made->module = made->library->check(*made->tree, llvm::sys::path::stem(path),
                                      made->diagnostics, &names);
  made->uses = names.take();
  made->diagnostics.sort();
  return made;
}

Analysis::~Analysis() {
  llvm::SmallVector<const SourceFile *, 4> files(library->files());
  module = nullptr;
  library = nullptr;
  for (const SourceFile *each : files)
    sources.remove(*each);
  sources.remove(*file);
}

const NameUse *Analysis::useAt(std::size_t offset) const {
  std::uint32_t place = file->span(offset, offset).begin;
  auto next = llvm::upper_bound(uses, place,
                                [](std::uint32_t value, const NameUse &use) {
                                  return value < use.span.begin;
                                });
  // A cursor that follows the last letter still is at the name.
  if (next == uses.begin() || std::prev(next)->span.end < place)
    return nullptr;
  return &*std::prev(next);
}

std::size_t Analysis::tokenBefore(std::size_t offset) const {
  std::uint32_t place = file->span(offset, offset).begin;
  std::size_t low = 0, high = tokens->size();
  while (high - low > 1) {
    std::size_t middle = low + (high - low) / 2;
    (tokens->span(middle).begin <= place ? low : high) = middle;
  }
  return low;
}
