// Throws what LLVM reports by its handlers.
#include "jit/session/Guard.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstdio>
#include <mutex>

using namespace quern::jit;

FatalError::FatalError(const char *reason) {
  std::snprintf(text, sizeof text, "%s", reason);
}

void quern::jit::installFailureHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Another user of a shared LLVM may have handlers.
    llvm::remove_bad_alloc_error_handler();
    llvm::remove_fatal_error_handler();
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { throw std::bad_alloc(); });
    llvm::install_fatal_error_handler(
        [](void *, const char *reason, bool) { throw FatalError(reason); });
  });
}
