// Devices as torch names them.
#pragma once

#include "jit/Jit.h"

#include <c10/core/Device.h>

namespace quern {

/// Those of HIP are CUDA's to torch.
c10::Device torchDevice(DeviceId id);

/// The device of "cuda:1".
c10::Device deviceNamed(const std::string &name);

} // namespace quern
