// The only file that includes torch's C interface.
#include "backend-torch/run/Stable.h"

#include <torch/csrc/stable/c/shim.h>

#include <cassert>

namespace quern {

int torchThreads() {
  std::uint32_t count = 1;
  [[maybe_unused]] AOTITorchError status = torch_get_num_threads(&count);
  assert(status == AOTI_TORCH_SUCCESS && "torch does not know its threads");
  return static_cast<int>(count);
}

void warnThroughTorch(const std::string &message) {
  aoti_torch_warn(__func__, __FILE__, __LINE__, message.c_str());
}

std::optional<NamedDevice> readDevice(const std::string &name) {
  std::uint32_t type = 0;
  std::int32_t index = -1;
  if (torch_parse_device_string(name.c_str(), &type, &index) !=
      AOTI_TORCH_SUCCESS)
    return std::nullopt;
  return NamedDevice{static_cast<std::int8_t>(type),
                     static_cast<std::int8_t>(index)};
}

} // namespace quern
