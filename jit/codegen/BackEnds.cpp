// Registers LLVM's back ends when they are first asked for.
#include "jit/codegen/BackEnds.h"

#include "jit/session/Forks.h"

#include "llvm/Support/TargetSelect.h"

#include <mutex>

bool quern::jit::initialiseBackEnd(llvm::Triple::ArchType architecture) {
  static auto &initialising = *new ProcessMutex;
  std::lock_guard lock(initialising);
#define QN_BACKEND(name, arch, parser)                                         \
  if (architecture == llvm::Triple::arch) {                                    \
    static bool isKnown = false;                                               \
    if (isKnown)                                                               \
      return true;                                                             \
    LLVMInitialize##name##TargetInfo();                                        \
    LLVMInitialize##name##Target();                                            \
    LLVMInitialize##name##TargetMC();                                          \
    LLVMInitialize##name##AsmPrinter();                                        \
    parser;                                                                    \
    return isKnown = true;                                                     \
  }
#include "jit/codegen/Backends.def"
  return false;
}
