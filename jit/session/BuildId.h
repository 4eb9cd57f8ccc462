// What tells one build of the compiler from another.
#pragma once

#include <string>

namespace quern::jit {

/// Bytes that change with every build of this binary.
std::string buildIdentity();

} // namespace quern::jit
