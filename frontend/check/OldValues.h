// Reads of a `mut` parameter behind its assignment.
#pragma once

#include "frontend/typed/Declaration.h"

namespace quern::check {

/// A read that yields what stood there before the call although the text has
/// assigned the parameter by then.
struct OldValue {
  const typed::Expression *read;
  const typed::Statement *assigned; ///< the last one in front of it
};

/// All such reads of a lifted declaration, in the order of the text.
llvm::SmallVector<OldValue, 2> oldValues(const typed::Declaration &declaration);

} // namespace quern::check
