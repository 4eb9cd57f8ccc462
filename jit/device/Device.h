// One GPU: its facts, memory, streams, events and loaded code.
#pragma once

#include "jit/device/Driver.h"

#include <array>

namespace quern::jit {

/// What the schedules and the target table ask of a device.
struct DeviceFacts {
  std::string name;
  std::string target; ///< "sm_90", "gfx942"
  int warpSize = 0, processors = 0, blockThreads = 0;
  std::int64_t sharedBytes = 0; ///< a block may have at most
  std::size_t memoryBytes = 0;
  bool hasPools = false; ///< memory is given and taken in a stream's order
};

struct LaunchShape {
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  unsigned sharedBytes = 0;
};

/// A device whose primary context is held: the one PyTorch uses as well, so
/// that its pointers and streams are good here. Thread-safe. Everything made
/// from a device keeps it alive, and gives itself back when it goes.
class Device : public std::enable_shared_from_this<Device> {
public:
  static Result<int> count(const Driver &driver);
  static Result<std::shared_ptr<Device>>
  open(std::shared_ptr<const Driver> driver, int ordinal);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceFacts &facts() const { return known; }

  class Memory;
  class Image;
  class Stream;
  class Event;
  /// A stream of another's, or null for the default one.
  using StreamHandle = void *;

  Result<Memory> allocate(std::size_t bytes);
  /// Loads PTX or a code object; the driver's log is part of an error.
  Result<Image> load(const std::string &image);
  Result<Stream> makeStream();
  Result<Event> makeEvent(bool timing = false);

  /// Memory that is there for the stream's later work, until it is released
  /// in the stream's order: no waiting for the device, if that has pools.
  Result<std::uint64_t> allocateInOrder(std::size_t bytes, StreamHandle stream);
  Result<std::monostate> releaseInOrder(std::uint64_t address,
                                        StreamHandle stream);

  Result<std::monostate> copyIn(std::uint64_t target, const void *source,
                                std::size_t bytes, StreamHandle stream);
  Result<std::monostate> copyOut(void *target, std::uint64_t source,
                                 std::size_t bytes, StreamHandle stream);
  Result<std::monostate> fill(std::uint64_t target, unsigned char value,
                              std::size_t bytes, StreamHandle stream);
  Result<std::monostate> wait(StreamHandle stream);
  /// For everything that anybody has given the device to do.
  Result<std::monostate> waitForAll();
  /// What the default stream leaves there.
  Result<std::monostate> read(void *target, std::uint64_t source,
                              std::size_t bytes);
  /// Whether the stream's work is being recorded, and not done.
  Result<bool> isCapturing(StreamHandle stream);

private:
  friend class DeviceObject;
  class Use;
  Device(std::shared_ptr<const Driver> driver, int number)
      : driver(std::move(driver)), number(number) {}
  Result<std::monostate> learn();
  void keepMemory() const;
  Result<std::monostate> learnTarget();
  /// Runs a driver call in the device's context; `doing` names it in errors.
  template <typename Call>
  Result<std::monostate> run(const char *doing, Call call) const;
  template <typename Call>
  Result<std::monostate> giveBack(const char *doing, Call call) const;

  std::shared_ptr<const Driver> driver;
  int number;
  void *context = nullptr;
  DeviceFacts known;
};

/// Something that the driver made for a device: moved, never copied.
class DeviceObject {
public:
  DeviceObject(DeviceObject &&other) noexcept;
  DeviceObject &operator=(DeviceObject &&other) noexcept;
  void *handle() const { return object; }

protected:
  using Destroy = int (*)(const Driver &driver, void *object);
  DeviceObject(std::shared_ptr<Device> device, void *object, Destroy destroy)
      : device(std::move(device)), object(object), destroy(destroy) {}
  ~DeviceObject();
  template <typename Call>
  Result<std::monostate> run(const char *doing, Call call) const;

  std::shared_ptr<Device> device;
  void *object;

private:
  void giveBack();
  Destroy destroy;
};

class Device::Memory : public DeviceObject {
public:
  std::uint64_t address() const {
    return reinterpret_cast<std::uint64_t>(object);
  }

private:
  friend class Device;
  Memory(std::shared_ptr<Device> device, std::uint64_t address);
};

/// A kernel of a loaded image; good while the image is.
struct DeviceFunction {
  void *handle = nullptr;
};

/// What the driver says of a compiled kernel.
struct FunctionFacts {
  int registers = 0, localBytes = 0;
};

class Device::Image : public DeviceObject {
public:
  Result<DeviceFunction> function(const std::string &name) const;
  Result<FunctionFacts> facts(DeviceFunction function) const;
  /// Blocks of that many threads that one multiprocessor holds at a time.
  Result<int> occupancy(DeviceFunction function, int blockThreads,
                        std::size_t sharedBytes) const;
  /// `parameters` points at each kernel parameter's value.
  Result<std::monostate> launch(DeviceFunction function,
                                const LaunchShape &shape,
                                std::span<void *const> parameters,
                                StreamHandle stream) const;

private:
  friend class Device;
  Image(std::shared_ptr<Device> device, void *module);
};

class Device::Stream : public DeviceObject {
public:
  /// Later work of the stream waits for the event.
  Result<std::monostate> waitFor(const Event &event);

private:
  friend class Device;
  Stream(std::shared_ptr<Device> device, void *stream);
};

class Device::Event : public DeviceObject {
public:
  Result<std::monostate> record(StreamHandle stream);
  Result<std::monostate> wait();
  /// Milliseconds from this event to a later one; both made with timing.
  Result<float> until(const Event &last) const;

private:
  friend class Device;
  Event(std::shared_ptr<Device> device, void *event);
};

} // namespace quern::jit
