// The numbers of the cost model by name; std only.
#pragma once

#include <cstdint>

namespace quern::cost {

#define QN_COST(name, value, unit, meaning)                                    \
  inline constexpr std::int64_t name = value;
#include "dsl/cost/Parameters.def"

} // namespace quern::cost
