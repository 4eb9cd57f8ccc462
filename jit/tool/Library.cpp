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

ToolLibrary::ToolLibrary(SourceManager &sources, llvm::StringRef path)
    : path(path),
      library(
          sources, [this](llvm::StringRef name) { return find(name); },
          preludeNames()) {}

std::optional<ModuleText> ToolLibrary::find(llvm::StringRef name) {
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (llvm::StringRef(module.name) == name)
      return ModuleText{std::string(module.path), module.text};
  llvm::SmallString<128> file(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(file, name + ".qn");
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return std::nullopt;
  owned.push_back((*buffer)->getBuffer().str());
  return ModuleText{file.str().str(), owned.back()};
}

std::shared_ptr<const typed::TypedModule>
ToolLibrary::check(const ast::Module &module, DiagnosticEngine &diagnostics) {
  return library.check(module, llvm::sys::path::stem(path), diagnostics);
}
