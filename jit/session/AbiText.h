// KernelAbi as bytes for the disk cache, and as JSON for a reader.
#pragma once

#include "dsl/KernelAbi.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace quern::jit {

std::string writeAbi(const KernelAbi &abi);
/// Nothing when the bytes are no KernelAbi.
std::optional<KernelAbi> readAbi(llvm::StringRef bytes);

/// One object: the words of the packet, the launches, the error sites.
std::string printAbi(const KernelAbi &abi);

} // namespace quern::jit
