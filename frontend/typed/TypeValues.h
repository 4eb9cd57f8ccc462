// What a type itself has: `lowest(T)`, `highest(T)`, `epsilon(T)`, `tiny(T)`,
// `bitwidth(T)`.
#pragma once

#include "frontend/ElementType.h"
#include "frontend/typed/Builtin.h"
#include "frontend/typed/Constant.h"

namespace quern::typed {

/// `lowest` and `highest` are infinities for floats, as a neutral element of
/// max and min has to be.
Constant typeValue(Builtin builtin, ElementType type);

} // namespace quern::typed
