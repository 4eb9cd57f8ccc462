// Memory that compiling took, back to the system.
#include "jit/Jit.h"
#include "jit/session/LoadedParts.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <sys/mman.h>

using namespace quern;
using namespace quern::jit;

/// Lets go of what was read of a binary's file and never written: code and
/// constants. It is read again where it is needed, from the system's cache.
static void letGoOf(const void *code) {
  std::uintptr_t page = llvm::sys::Process::getPageSizeEstimate();
  forPartsOf(code, [page](const LoadedPart &part) {
    if (part.header.p_type != PT_LOAD || part.header.p_flags & PF_W)
      return;
    std::uintptr_t begin = (part.begin + page - 1) / page * page;
    std::uintptr_t end = (part.begin + part.header.p_filesz) / page * page;
    if (begin < end)
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  });
}

void Session::giveBackMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  // They may be libraries of their own.
  letGoOf(reinterpret_cast<const void *>(&llvm::cl::PrintOptionValues));
  letGoOf(reinterpret_cast<const void *>(
      static_cast<llvm::LogicalResult (*)(mlir::Operation *, bool)>(
          &mlir::verify)));
}
