// Numbers from torch's generator that kernels count from.
#pragma once

#include <ATen/core/Tensor.h>

namespace quern {

/// A 0-d tensor of 63 random bits. Follows `torch.manual_seed`.
at::Tensor drawnSeed();

} // namespace quern
