// Opens drivers and devices, once each.
#include "jit/session/Devices.h"

namespace quern::jit {

Result<std::shared_ptr<SessionDevice>> Devices::get(DeviceId id) {
  std::lock_guard guard(lock);
  std::shared_ptr<SessionDevice> &known = devices[{id.kind, id.number}];
  if (known)
    return known;
  auto opened = open(id);
  if (opened)
    known = *opened;
  return opened;
}

Result<std::shared_ptr<SessionDevice>> Devices::open(DeviceId id) {
  std::shared_ptr<const Driver> &driver = drivers[id.kind];
  if (!driver) {
    auto opened =
        openDriver(id.kind == DeviceKind::Cuda ? Vendor::Cuda : Vendor::Hip);
    if (!opened)
      return opened.error();
    driver = *opened;
  }
  auto device = Device::open(driver, id.number);
  if (!device)
    return device.error();
  SessionOptions own = options;
  own.target = (*device)->facts().target;
  return std::make_shared<SessionDevice>(own, std::move(*device));
}

} // namespace quern::jit
