// The kernel library's texts for the verbs that only check.
#pragma once

#include "frontend/check/Check.h"

namespace quern::tool {

/// Checks against the texts in this program; other modules are looked for
/// beside `path`, the file that is checked.
class ToolLibrary {
public:
  ToolLibrary(SourceManager &sources, llvm::StringRef path);

  std::shared_ptr<const typed::TypedModule>
  check(const ast::Module &module, DiagnosticEngine &diagnostics);

private:
  std::optional<ModuleText> find(llvm::StringRef name);

  std::string path;
  std::vector<std::string> owned; ///< texts of files
  ModuleLibrary library;
};

} // namespace quern::tool
