// Finds modules: the embedded library first, then files beside the text.
#include "jit/tool/Library.h"

#include "frontend/ast/Decl.h"
#include "jit/session/EmbeddedModules.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace quern;
using namespace quern::tool;

static std::vector<std::string> preludeNames() {
  std::vector<std::string> names;
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (module.family == "prelude")
      names.emplace_back(module.name);
  return names;
}

static std::optional<ModuleText> findEmbedded(llvm::StringRef name) {
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (llvm::StringRef(module.name) == name)
      return ModuleText{std::string(module.path), module.text};
  return std::nullopt;
}

ToolLibrary::ToolLibrary(SourceManager &sources)
    : embedded(sources, findEmbedded, preludeNames()) {}

std::shared_ptr<const typed::TypedModule>
ToolLibrary::check(const ast::Module &module, llvm::StringRef path,
                   DiagnosticEngine &diagnostics) {
  std::unique_ptr<llvm::MemoryBuffer> text; // the library takes a copy
  auto findBeside = [&](llvm::StringRef name) -> std::optional<ModuleText> {
    llvm::SmallString<128> file(llvm::sys::path::parent_path(path));
    llvm::sys::path::append(file, name + ".qn");
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      return std::nullopt;
    text = std::move(*buffer);
    return ModuleText{file.str().str(), text->getBuffer()};
  };
  return ModuleLibrary(embedded, findBeside)
      .check(module, llvm::sys::path::stem(path), diagnostics);
}
