// Finds modules: the embedded library first, then files beside the text.
#include "jit/tool/Library.h"

#include "frontend/ast/Decl.h"
#include "frontend/check/Beside.h"
#include "jit/session/EmbeddedModules.h"

#include "llvm/Support/Path.h"

using namespace quern;
using namespace quern::tool;

std::vector<std::string> tool::preludeNames() {
  std::vector<std::string> names;
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (module.family == "prelude")
      names.emplace_back(module.name);
  return names;
}

std::optional<ModuleText> tool::findEmbedded(llvm::StringRef name) {
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
  return ModuleLibrary(embedded, modulesBeside(path))
      .check(module, llvm::sys::path::stem(path), diagnostics);
}
