// What is asked of torch through its stable C interface: one build serves every
// release from 2.13 on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quern {

/// How many threads torch's operators run on.
int torchThreads();

/// Warns as torch does, so that Python's filters of warnings apply.
void warnThroughTorch(const std::string &message);

struct NamedDevice {
  std::int8_t type = 0;   ///< torch's number of the kind
  std::int8_t index = -1; ///< -1: the current one
};

/// The device of "cuda:1"; none where torch knows no such device.
std::optional<NamedDevice> readDevice(const std::string &name);

} // namespace quern
