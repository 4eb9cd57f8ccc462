// Products of sizes, and how axes are written in messages.
#pragma once

#include "jit/bind/Binding.h"

namespace quern::jit {

/// The number of elements, or the largest number where there are more.
std::int64_t countOf(llvm::ArrayRef<std::int64_t> sizes);

/// `*S`, and `(A B)` of axes that are joined.
std::string axisText(const typed::Declaration &declaration, typed::AxisId axis);
std::string joinedText(const typed::Declaration &declaration,
                       const typed::Dimension &dimension);

/// The product of extents; nothing where it does not fit 64 bits.
std::optional<std::int64_t> checkedProduct(llvm::ArrayRef<std::int64_t> sizes);

} // namespace quern::jit
