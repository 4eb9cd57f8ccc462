// The one place of this room that throws.
#pragma once

#include <string>

namespace quern {

/// Reports an error that the caller of a compiled graph is to see.
[[noreturn]] void raise(const std::string &message);

} // namespace quern
