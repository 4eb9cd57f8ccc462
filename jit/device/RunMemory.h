// Memory of a device for one run, in the order of a stream.
#pragma once

#include "jit/device/Device.h"

namespace quern::jit {

/// Memory of one run, released in the stream's order.
class RunMemory {
public:
  RunMemory(Device &device, Device::StreamHandle stream)
      : device(device), stream(stream) {}
  ~RunMemory() {
    // The launches were accepted; what goes wrong now shows at the next call.
    if (address)
      (void)device.releaseInOrder(address, stream);
  }
  RunMemory(const RunMemory &) = delete;
  RunMemory &operator=(const RunMemory &) = delete;

  Result<std::monostate> take(std::size_t bytes) {
    auto made = device.allocateInOrder(bytes, stream);
    if (!made)
      return made.error();
    address = *made;
    return std::monostate();
  }

  std::uint64_t address = 0;

private:
  Device &device;
  Device::StreamHandle stream;
};

} // namespace quern::jit
