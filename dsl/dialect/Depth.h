// How long the chains are that values of a kernel are made of.
#pragma once

#include "dsl/dialect/Dialect.h"

namespace quern {

/// Whether some value is made of too long a chain of others; says so.
bool isTooDeep(qn::RowwiseOp kernel);

} // namespace quern
