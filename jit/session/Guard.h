// The boundary behind which nothing is thrown: memory that is not there, and
// what LLVM calls fatal, are errors like others.
#pragma once

#include "jit/Jit.h"

#include <exception>
#include <new>

namespace quern::jit {

/// What LLVM's handler of fatal errors throws; its text needs no memory.
struct FatalError : std::exception {
  explicit FatalError(const char *reason);
  const char *what() const noexcept override { return text; }
  char text[256];
};

/// Lets LLVM throw where it would end the process. Once a process.
void installFailureHandlers();

/// An error whose text fits a string without memory of its own.
inline Error outOfMemory() { return Error{"out of memory", {}}; }

/// What `body` gives, a `Result`; what it throws is an error.
template <typename Body> auto guarded(Body &&body) -> decltype(body()) {
  try {
    try {
      return body();
    } catch (const FatalError &problem) {
      return Error{std::string("the compiler gives up: ") + problem.what(), {}};
    }
  } catch (const std::exception &) { // also of the message
    return outOfMemory();
  }
}

} // namespace quern::jit
