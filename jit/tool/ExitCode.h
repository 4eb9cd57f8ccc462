// What a process of `quern` returns.
#pragma once

#include <cstdint>

namespace quern::tool {

enum ExitCode : std::uint8_t { success = 0, failure = 1, usage = 2 };

} // namespace quern::tool
