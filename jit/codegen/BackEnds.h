// LLVM's back ends, as far as this library holds them.
#pragma once

#include "llvm/TargetParser/Triple.h"

namespace quern::jit {

/// Tells LLVM of the back end for an architecture; false where there is none.
/// LLVM's own registry keeps it, so once a process is enough.
bool initialiseBackEnd(llvm::Triple::ArchType architecture);

} // namespace quern::jit
