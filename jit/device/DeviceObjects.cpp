// What a device makes: memory, images, streams, events.
#include "jit/device/Use.h"

#include <cstring>

namespace quern::jit {
namespace {

/// Enough for the errors of an assembler; the driver cuts longer ones.
constexpr std::size_t kLogBytes = 16384;

/// Beyond some bytes CUDA's kernels must ask for shared memory beforehand.
int allowShared(const Driver &driver, DeviceFunction function,
                std::size_t bytes) {
  constexpr std::size_t kUnasked = 48 * 1024;
  if (bytes <= kUnasked || driver.vendor != Vendor::Cuda)
    return 0;
  return driver.cuda_allowShared(function.handle, driver.numbers.dynamicShared,
                                 static_cast<int>(bytes));
}

} // namespace

DeviceObject::DeviceObject(DeviceObject &&other) noexcept
    : device(std::move(other.device)),
      object(std::exchange(other.object, nullptr)), destroy(other.destroy) {}

DeviceObject &DeviceObject::operator=(DeviceObject &&other) noexcept {
  if (this == &other)
    return *this;
  giveBack();
  device = std::move(other.device);
  object = std::exchange(other.object, nullptr);
  destroy = other.destroy;
  return *this;
}

DeviceObject::~DeviceObject() { giveBack(); }

/// A failure here cannot be told to anyone; the next call on the device tells
/// what is wrong with it.
void DeviceObject::giveBack() {
  if (!object)
    return;
  (void)device->giveBack("giving back", [this](const Driver &driver) {
    return destroy(driver, object);
  });
  object = nullptr;
}

Device::Memory::Memory(std::shared_ptr<Device> device, std::uint64_t address)
    : DeviceObject(std::move(device), reinterpret_cast<void *>(address),
                   [](const Driver &driver, void *memory) {
                     return driver.release(
                         reinterpret_cast<std::uint64_t>(memory));
                   }) {}

Device::Image::Image(std::shared_ptr<Device> device, void *module)
    : DeviceObject(std::move(device), module,
                   [](const Driver &driver, void *module) {
                     // Not every driver waits for kernels that still run.
                     (void)driver.waitForAll();
                     return driver.unloadModule(module);
                   }) {}

Device::Stream::Stream(std::shared_ptr<Device> device, void *stream)
    : DeviceObject(std::move(device), stream,
                   [](const Driver &driver, void *stream) {
                     return driver.vendor == Vendor::Cuda
                                ? driver.cuda_destroyStream(stream)
                                : driver.hip_destroyStream(stream);
                   }) {}

Device::Event::Event(std::shared_ptr<Device> device, void *event)
    : DeviceObject(std::move(device), event,
                   [](const Driver &driver, void *event) {
                     return driver.destroyEvent(event);
                   }) {}

Result<Device::Memory> Device::allocate(std::size_t bytes) {
  std::uint64_t address = 0;
  std::string doing = "allocating " + std::to_string(bytes) + " bytes";
  // A driver refuses none at all; an empty tensor still has an address.
  auto made = run(doing.c_str(), [&](const Driver &driver) {
    return driver.allocate(&address, bytes ? bytes : 1);
  });
  if (!made)
    return made.error();
  return Memory(shared_from_this(), address);
}

Result<Device::Image> Device::load(const std::string &image) {
  void *module = nullptr;
  std::string log(kLogBytes, '\0');
  auto loaded = run("loading a kernel", [&](const Driver &driver) {
    int options[] = {driver.numbers.errorLog, driver.numbers.errorLogBytes};
    void *values[] = {log.data(), reinterpret_cast<void *>(kLogBytes - 1)};
    bool logs = driver.vendor == Vendor::Cuda;
    return driver.loadModule(&module, image.c_str(), logs ? 2 : 0, options,
                             values);
  });
  if (loaded)
    return Image(shared_from_this(), module);
  Error error = loaded.error();
  log.resize(std::strlen(log.c_str()));
  if (!log.empty())
    error.message += "\n" + log;
  return error;
}

Result<Device::Stream> Device::makeStream() {
  void *stream = nullptr;
  auto made = run("making a stream", [&](const Driver &driver) {
    // One that ignores the default stream.
    return driver.createStream(&stream, unsigned(driver.numbers.nonBlocking));
  });
  if (!made)
    return made.error();
  return Stream(shared_from_this(), stream);
}

Result<Device::Event> Device::makeEvent(bool timing) {
  void *event = nullptr;
  auto made = run("making an event", [&](const Driver &driver) {
    return driver.createEvent(
        &event, timing ? 0 : unsigned(driver.numbers.withoutTiming));
  });
  if (!made)
    return made.error();
  return Event(shared_from_this(), event);
}

Result<DeviceFunction> Device::Image::function(const std::string &name) const {
  DeviceFunction found;
  std::string doing = "looking for kernel `" + name + "`";
  auto looked = run(doing.c_str(), [&](const Driver &driver) {
    return driver.function(&found.handle, object, name.c_str());
  });
  if (!looked)
    return looked.error();
  return found;
}

Result<FunctionFacts> Device::Image::facts(DeviceFunction function) const {
  FunctionFacts facts;
  auto asked = run("asking for a kernel's facts", [&](const Driver &driver) {
    int code = driver.functionAttribute(
        &facts.registers, driver.numbers.registers, function.handle);
    return code ? code
                : driver.functionAttribute(&facts.localBytes,
                                           driver.numbers.localBytes,
                                           function.handle);
  });
  if (!asked)
    return asked.error();
  return facts;
}

Result<int> Device::Image::occupancy(DeviceFunction function, int blockThreads,
                                     std::size_t sharedBytes) const {
  int blocks = 0;
  auto asked =
      run("asking for a kernel's occupancy", [&](const Driver &driver) {
        int code = allowShared(driver, function, sharedBytes);
        return code ? code
                    : driver.blocksPerProcessor(&blocks, function.handle,
                                                blockThreads, sharedBytes);
      });
  if (!asked)
    return asked.error();
  return blocks;
}

Result<std::monostate> Device::Image::launch(DeviceFunction function,
                                             const LaunchShape &shape,
                                             std::span<void *const> parameters,
                                             StreamHandle stream) const {
  return run("launching a kernel", [&](const Driver &driver) {
    if (int code = allowShared(driver, function, shape.sharedBytes))
      return code;
    const auto &[gx, gy, gz] = shape.grid;
    const auto &[bx, by, bz] = shape.block;
    return driver.launch(function.handle, gx, gy, gz, bx, by, bz,
                         shape.sharedBytes, stream,
                         const_cast<void **>(parameters.data()), nullptr);
  });
}

Result<std::monostate> Device::Stream::waitFor(const Event &event) {
  return run("ordering two streams", [&](const Driver &driver) {
    return driver.streamWaitsFor(object, event.handle(), 0);
  });
}

Result<std::monostate> Device::Event::record(StreamHandle stream) {
  return run("recording an event", [&](const Driver &driver) {
    return driver.recordEvent(object, stream);
  });
}

Result<std::monostate> Device::Event::wait() {
  return run("waiting for an event",
             [&](const Driver &driver) { return driver.waitForEvent(object); });
}

Result<float> Device::Event::until(const Event &last) const {
  float milliseconds = 0;
  auto asked = run("timing two events", [&](const Driver &driver) {
    return driver.eventTime(&milliseconds, object, last.handle());
  });
  if (!asked)
    return asked.error();
  return milliseconds;
}

} // namespace quern::jit
