// Whether a loop's counter can pass the numbers of 64 bits.
#pragma once

#include "mlir/IR/Value.h"

#include <cstdint>

namespace quern::irgen {

/// A step up to which a loop from near 0 on would run for days before its
/// counter passes the largest number: nobody sees what becomes of it then.
inline constexpr std::uint64_t smallStep = 1 << 16;

/// What `value` is at most, without its sign; the largest number where nothing
/// is known.
std::uint64_t magnitudeOf(mlir::Value value);

/// Whether a counter that goes from `lower` to `upper` in steps of `step` is a
/// number of 64 bits after the last round too, or only after days.
bool staysCountable(mlir::Value lower, mlir::Value upper, mlir::Value step);

} // namespace quern::irgen
