// The arguments of ATen's overloads (docs/decisions/0009).
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string_view>

namespace quern::aten {

struct Argument {
  llvm::StringRef name;
  bool isTensor = false; ///< a list of tensors, or one that may be missing, too
};

/// The arguments of an overload, `add.Tensor`, in the schema's order; nothing
/// when the table has none of that name.
std::optional<llvm::SmallVector<Argument, 8>>
argumentsOf(llvm::StringRef overload);

void forEachOverload(llvm::function_ref<void(llvm::StringRef)> visit);

/// A line for each overload, in the order of their bytes; made from
/// `Schemas.txt`.
extern const std::string_view table;

} // namespace quern::aten
