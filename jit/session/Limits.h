// Bounds on what texts and kernels may cost, each with its variable.
#pragma once

#include "frontend/Budget.h"
#include "jit/Jit.h"

namespace quern::jit {

struct Limits {
  TextLimits text;
  /// Of one kernel, counted while it is generated and lowered.
  std::uint64_t operations = 1 << 18;
  /// Kernels that are kept in memory for those who ask again.
  std::uint64_t kernels = 1000;
  /// Threads of a pool.
  std::uint64_t threads = 1024;
};

/// The limits with what the environment says of them; fails where it says what
/// is no number.
Result<Limits> wishedLimits();

} // namespace quern::jit
