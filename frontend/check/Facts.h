// What a branch of `if const` may take for granted.
#pragma once

#include "frontend/check/DeclarationChecker.h"

namespace quern::check {

struct DeclarationChecker::Facts {
  /// A type parameter is one of these elements.
  llvm::SmallVector<std::pair<unsigned, ElementMask>, 2> elements;
  llvm::SmallVector<const typed::Variable *, 2> present, absent;
};

} // namespace quern::check
