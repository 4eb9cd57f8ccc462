// Visits every expression of a typed body.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace quern::jit {

using ExpressionVisitor =
    llvm::function_ref<void(const typed::Expression &expression)>;

/// Calls `visit` for `expression` and all below it; null is nothing.
void walk(const typed::Expression *expression, ExpressionVisitor visit);
void walk(typed::Block block, ExpressionVisitor visit);

} // namespace quern::jit
