// How a process of `quern` ends; the program and the library have a stream
// each.
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <system_error>

namespace quern::tool {

enum ExitCode : std::uint8_t { success = 0, failure = 1, usage = 2 };

/// Writes out what is left, and says so where it cannot; gives the status. A
/// closed pipe is the reader's choice.
inline int closeOutput(int code) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (!out.has_error())
    return code;
  if (out.error() != std::errc::broken_pipe)
    llvm::errs() << "quern: cannot write to standard output: "
                 << out.error().message() << '\n';
  out.clear_error();
  return failure;
}

} // namespace quern::tool
