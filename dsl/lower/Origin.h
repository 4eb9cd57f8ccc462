// What the position that a load reads at is made of.
#pragma once

#include "dsl/dialect/Dialect.h"

namespace quern {

/// What stands behind a position.
struct Origin {
  bool computed = true; ///< from positions and sizes, without memory
  bool divides = false; ///< by a quotient, which is dear in vectors
  bool bends = false;   ///< by a choice
};

Origin originOf(mlir::Value index);

bool mayBeFew(qn::LoadOp load);

} // namespace quern
