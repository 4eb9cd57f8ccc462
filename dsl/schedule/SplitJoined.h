// Joined operands on a GPU.
#pragma once

#include "dsl/dialect/Dialect.h"

namespace quern {

/// Makes a read of joined operands one of each, under a condition.
void splitJoined(qn::RowwiseOp kernel);

} // namespace quern
