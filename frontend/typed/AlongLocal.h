// Values that stand in memory as a whole, along axes that `over` brings in.
#pragma once

#include "frontend/typed/Declaration.h"

namespace quern::typed {

/// A scatter, or variables read at other places, that depend on a local axis:
/// what is needed whole would be needed once for every position along it.
struct WholeAlongLocal {
  const Expression *expression = nullptr; ///< or null: none
  AxisId axis;
};

/// The first one in the body of `declaration`.
WholeAlongLocal wholeAlongLocal(const Declaration &declaration);

} // namespace quern::typed
