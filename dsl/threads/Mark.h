// What marks the LLVM functions that explicit kernels become.
#pragma once

namespace quern {

/// Their loops are the user's, and are unrolled as such.
inline constexpr char threadsAttribute[] = "quern-threads";

} // namespace quern
