// Modules in files: where `from name use …` looks outside the library.
#pragma once

#include "frontend/check/Check.h"

namespace quern {

/// Finds `folder.name` as `folder/name.qn` in the folder of the file `path`.
/// What it found stays readable until the next search.
ModuleLoader modulesBeside(llvm::StringRef path);

} // namespace quern
