// Visits every expression of a typed body.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace quern::typed {

using ExpressionVisitor =
    llvm::function_ref<void(const Expression &expression)>;

/// Calls `visit` for `expression` and all below it; null is nothing.
void walk(const Expression *expression, ExpressionVisitor visit);
void walk(Block block, ExpressionVisitor visit);

} // namespace quern::typed
