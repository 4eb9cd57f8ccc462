// Fills and copies of strided tensors on the pool's threads.
#pragma once

#include "jit/op/Plan.h"

namespace quern::jit {

/// Every element becomes `bits`, as many bytes of it as the type has.
void fillTensor(Pool &pool, const PlanTensor &target, char *to,
                const std::uint64_t *bits);

/// Two tensors of one shape and type that do not overlap.
void copyTensor(Pool &pool, const PlanTensor &target, char *to,
                const PlanTensor &source, const char *from);

} // namespace quern::jit
