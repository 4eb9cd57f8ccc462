// The GPUs of a session: opened when a tensor of theirs first comes.
#pragma once

#include "jit/device/Device.h"
#include "jit/session/Compiler.h"

#include <map>
#include <mutex>

namespace quern::jit {

/// One GPU, the compiler that makes code for it, and the code it has loaded.
class SessionDevice {
public:
  SessionDevice(const SessionOptions &options, const Limits &limits,
                std::shared_ptr<Device> device)
      : device(std::move(device)), compiler(options, limits) {}

  std::shared_ptr<Device> device;
  Compiler compiler;

  /// An entry of a kernel on the device. A driver compiles and copies an image,
  /// so it is loaded once, and stays as long as the session does.
  struct Entry {
    std::shared_ptr<const Device::Image> image;
    DeviceFunction function;
  };
  Result<Entry> entry(const std::shared_ptr<const CompiledKernel> &kernel,
                      const std::string &symbol);

private:
  struct Loaded {
    std::shared_ptr<const CompiledKernel> kernel; ///< keeps the address its own
    std::shared_ptr<const Device::Image> image;
  };
  using Key = std::pair<const CompiledKernel *, std::string>;
  Result<std::shared_ptr<const Device::Image>>
  load(const std::shared_ptr<const CompiledKernel> &kernel);

  std::mutex loading;
  std::map<Key, Entry> entries;
  std::map<const CompiledKernel *, Loaded> images;
};

/// The known target whose code runs on a device of that architecture: its own,
/// or for NVIDIA's the latest one before it, whose PTX the driver compiles.
std::string targetFor(const std::string &architecture);

class Devices {
public:
  Devices(SessionOptions options, const Limits &limits)
      : options(std::move(options)), limits(limits) {}

  /// The device with its driver and context; a failure is tried again by the
  /// next call.
  Result<std::shared_ptr<SessionDevice>> get(DeviceId id);
  /// A driver may work for seconds, so forks do not wait for it: the child
  /// opens what it needs itself, as far as its driver lets it.
  void afterFork(bool isChild);

private:
  Result<std::shared_ptr<SessionDevice>> open(DeviceId id);

  const SessionOptions options;
  const Limits limits;
  struct Opened {
    std::mutex lock;
    std::map<DeviceKind, std::shared_ptr<const Driver>> drivers;
    std::map<std::pair<DeviceKind, int>, std::shared_ptr<SessionDevice>>
        devices;
  };
  std::unique_ptr<Opened> opened = std::make_unique<Opened>();
};

} // namespace quern::jit
