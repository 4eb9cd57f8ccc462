// The kernel library's texts for the verbs that only check.
#pragma once

#include "frontend/check/Check.h"

namespace quern::tool {

/// The modules of the prelude, in the order of use.
std::vector<std::string> preludeNames();
/// A text in this program.
std::optional<ModuleText> findEmbedded(llvm::StringRef name);

/// Checks against the texts in this program, which are checked once; other
/// modules are looked for beside the file that is checked.
class ToolLibrary {
public:
  explicit ToolLibrary(SourceManager &sources);

  /// `path` is where `module` was read.
  std::shared_ptr<const typed::TypedModule>
  check(const ast::Module &module, llvm::StringRef path,
        DiagnosticEngine &diagnostics);

private:
  ModuleLibrary embedded;
};

} // namespace quern::tool
