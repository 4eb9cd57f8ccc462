// What marks LLVM functions that axes are lifted over.
#pragma once

namespace quern {

/// Loops step from panel to panel by what the target's addresses can hold, and
/// have many reads each: reducing multiplications in them is dear and gains
/// nothing.
inline constexpr char steppedAttribute[] = "quern-stepped";

} // namespace quern
