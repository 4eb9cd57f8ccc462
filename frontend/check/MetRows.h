// Scatters whose result is repeated along an axis that they went along.
#pragma once

#include "frontend/typed/Declaration.h"

namespace quern::check {

/// Along `axis` of a result all values meet in the same places, as what the
/// scatter changes does not have it; and then they are repeated along it.
struct MetRows {
  const typed::ScatterExpression *scatter;
  typed::AxisId axis;
};

/// Those of what a lifted declaration returns or stores, in the text's order.
llvm::SmallVector<MetRows, 1> metRows(const typed::Declaration &declaration);

} // namespace quern::check
