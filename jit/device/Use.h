// Driver calls inside a device's context; for the device's own sources.
#pragma once

#include "jit/device/Device.h"

namespace quern::jit {

/// Makes the device's context current and puts the old one back: the thread
/// may be in the middle of another framework's work.
class Device::Use {
public:
  explicit Use(const Device &device) : driver(*device.driver) {
    if (driver.vendor == Vendor::Cuda) {
      // Mostly it is current already, and asking is the cheaper call.
      void *current = nullptr;
      failed = driver.cuda_currentContext(&current);
      if (failed || current == device.context)
        return;
      failed = driver.cuda_pushContext(device.context);
      pushed = !failed;
      return;
    }
    failed = driver.hip_currentDevice(&previous);
    if (!failed && previous != device.number)
      failed = driver.hip_setDevice(device.number);
    changed = !failed && previous != device.number;
  }
  ~Use() {
    void *popped = nullptr;
    if (pushed)
      (void)driver.cuda_popContext(&popped);
    if (changed)
      (void)driver.hip_setDevice(previous);
  }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

  int failed = 0;

private:
  const Driver &driver;
  int previous = 0;
  bool changed = false, pushed = false;
};

template <typename Call>
Result<std::monostate> Device::run(const char *doing, Call call) const {
  Use use(*this);
  int code = use.failed ? use.failed : call(*driver);
  if (code)
    return driver->error(doing + (" on " + known.name), code);
  return std::monostate();
}

/// Gives something back: where even the context cannot be had there is a
/// second try, since otherwise what the driver holds would be lost.
template <typename Call>
Result<std::monostate> Device::giveBack(const char *doing, Call call) const {
  bool tried = false;
  auto give = [&](const Driver &driver) {
    tried = true;
    return call(driver);
  };
  auto given = run(doing, give);
  return tried ? given : run(doing, give);
}

template <typename Call>
Result<std::monostate> DeviceObject::run(const char *doing, Call call) const {
  return device->run(doing, call);
}

} // namespace quern::jit
