// KernelAbi as bytes for the disk cache.
#pragma once

#include "dsl/KernelAbi.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace quern::jit {

std::string writeAbi(const KernelAbi &abi);
/// Nothing when the bytes are no KernelAbi.
std::optional<KernelAbi> readAbi(llvm::StringRef bytes);

} // namespace quern::jit
