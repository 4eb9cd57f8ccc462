// Devices by number and by name.
#include "backend-torch/run/TorchDevices.h"
#include "backend-torch/run/Raise.h"
#include "backend-torch/run/Stable.h"

namespace quern {

c10::Device torchDevice(DeviceId id) {
  if (id.kind == DeviceKind::Cpu)
    return c10::kCPU;
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(id.number)};
}

c10::Device deviceNamed(const std::string &name) {
  std::optional<NamedDevice> device = readDevice(name);
  if (!device)
    raise("torch knows no device `" + name + "`");
  return {static_cast<c10::DeviceType>(device->type), device->index};
}

} // namespace quern
