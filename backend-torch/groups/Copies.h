// Which copies and fills are kernels, and which are left to ATen's copy.
#pragma once

#include "backend-torch/groups/Draft.h"

namespace quern {

/// Whether a draft that only copies, casts and fills is worth a kernel.
bool isOursToCopy(const Analysis &analysis, const Draft &draft);

} // namespace quern
