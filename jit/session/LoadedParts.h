// The parts of the binaries that a process has loaded.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <link.h>

namespace quern::jit {

using ProgramHeader = ElfW(Phdr);

/// One row of a binary's program headers, and where it lies.
struct LoadedPart {
  const ProgramHeader &header;
  std::uintptr_t begin;
};

/// Visits the parts of the binary that holds `address`.
void forPartsOf(const void *address,
                llvm::function_ref<void(const LoadedPart &part)> visit);

} // namespace quern::jit
