// Calls of an `each` on a GPU: those that share code share launches
// (docs/decisions/0020).
#pragma once

#include "jit/Jit.h"

namespace quern::jit {

class ListedCalls {
public:
  /// To be said before there is code for any of them.
  static void announce(std::span<BoundKernel> kernels);
  /// Runs kernels of which none touches what another one writes. The pointers
  /// are one kernel's behind the other's.
  static Result<std::monostate> run(std::span<const BoundKernel> kernels,
                                    std::span<void *const> pointers,
                                    void *stream);
};

} // namespace quern::jit
