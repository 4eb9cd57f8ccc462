// The GPUs of a session: opened when a tensor of theirs first comes.
#pragma once

#include "jit/device/Device.h"
#include "jit/session/Compiler.h"

#include <map>
#include <mutex>

namespace quern::jit {

/// One GPU, and the compiler that makes code for it.
struct SessionDevice {
  SessionDevice(const SessionOptions &options, std::shared_ptr<Device> device)
      : device(std::move(device)), compiler(options) {}

  std::shared_ptr<Device> device;
  Compiler compiler;
};

class Devices {
public:
  explicit Devices(SessionOptions options) : options(std::move(options)) {}

  /// The device with its driver and context; a failure is tried again by the
  /// next call.
  Result<std::shared_ptr<SessionDevice>> get(DeviceId id);

private:
  Result<std::shared_ptr<SessionDevice>> open(DeviceId id);

  const SessionOptions options;
  std::mutex lock;
  std::map<DeviceKind, std::shared_ptr<const Driver>> drivers;
  std::map<std::pair<DeviceKind, int>, std::shared_ptr<SessionDevice>> devices;
};

} // namespace quern::jit
