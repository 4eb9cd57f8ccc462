// Opens a device, learns its facts, moves bytes.
#include "jit/device/Device.h"

#include "jit/device/Use.h"

#include <string_view>

namespace quern::jit {
namespace {

/// The architecture's name out of a HIP property block. The block's layout
/// differs between releases; the name is the only text in it that begins so.
std::string findArchitecture(std::string_view block) {
  std::size_t begin = block.find("gfx");
  if (begin == std::string_view::npos)
    return "";
  std::string_view name = block.substr(begin);
  return std::string(
      name.substr(0, name.find_first_of(std::string_view(":\0", 2))));
}

} // namespace

Result<int> Device::count(const Driver &driver) {
  int count = 0;
  int code = driver.deviceCount(&count);
  if (code == driver.numbers.noDevice)
    return 0;
  if (code)
    return driver.error("counting the devices", code);
  return count;
}

Result<std::shared_ptr<Device>>
Device::open(std::shared_ptr<const Driver> driver, int ordinal) {
  auto count = Device::count(*driver);
  if (!count)
    return count.error();
  if (ordinal < 0 || ordinal >= *count)
    return Error{std::string("there is no ") + driver->vendorName() +
                     " device " + std::to_string(ordinal) +
                     ": this machine has " + std::to_string(*count),
                 {}};
  int number = 0;
  if (int code = driver->device(&number, ordinal))
    return driver->error("opening a device", code);
  std::shared_ptr<Device> device(new Device(driver, number));
  device->known.name = "device " + std::to_string(ordinal);
  if (driver->vendor == Vendor::Cuda)
    if (int code = driver->cuda_retainContext(&device->context, number)) {
      device->context = nullptr;
      return driver->error("taking the context of a device", code);
    }
  if (auto learned = device->learn(); !learned)
    return learned.error();
  return device;
}

Device::~Device() {
  if (context)
    (void)driver->cuda_releaseContext(number);
}

Result<std::monostate> Device::learn() {
  const DriverNumbers &numbers = driver->numbers;
  auto asked = run("asking for properties", [&](const Driver &driver) {
    int shared = 0;
    char name[256] = {};
    int code = driver.deviceName(name, sizeof(name) - 1, number);
    auto ask = [&](int attribute, int &value) {
      code = code ? code : driver.deviceAttribute(&value, attribute, number);
    };
    ask(numbers.warpSize, known.warpSize);
    ask(numbers.processors, known.processors);
    ask(numbers.blockThreads, known.blockThreads);
    ask(numbers.sharedBytes, shared);
    known.sharedBytes = shared;
    int pools = 0;
    ask(numbers.hasPools, pools);
    known.hasPools = pools != 0;
    if (!code)
      code = driver.deviceMemory(&known.memoryBytes, number);
    if (!code)
      known.name = name;
    return code;
  });
  if (!asked)
    return asked;
  if (known.hasPools)
    keepMemory();
  return learnTarget();
}

/// Pools give everything back to the system whenever somebody waits for a
/// stream, and taking it again costs more than a launch: ours keeps a little.
/// Where that cannot be had, runs are slower and nothing else.
void Device::keepMemory() const {
  (void)run("asking for the pool of memory", [&](const Driver &driver) {
    constexpr std::uint64_t little = std::uint64_t(64) << 20;
    void *pool = nullptr;
    std::uint64_t keeps = 0;
    int code = driver.ownPool(&pool, number);
    code = code ? code : driver.askPool(pool, driver.numbers.poolKeeps, &keeps);
    if (code || keeps >= little)
      return code;
    keeps = little;
    return driver.setPool(pool, driver.numbers.poolKeeps, &keeps);
  });
}

Result<std::monostate> Device::learnTarget() {
  return run("asking for the architecture", [&](const Driver &driver) {
    if (driver.vendor == Vendor::Cuda) {
      const DriverNumbers &numbers = driver.numbers;
      int major = 0, minor = 0;
      int code =
          driver.deviceAttribute(&major, numbers.capabilityMajor, number);
      code = code ? code
                  : driver.deviceAttribute(&minor, numbers.capabilityMinor,
                                           number);
      known.target = "sm_" + std::to_string(10 * major + minor);
      return code;
    }
    constexpr std::size_t kLargerThanAnyRelease = 8192;
    std::string block(kLargerThanAnyRelease, '\0');
    int code = driver.hip_deviceProperties(block.data(), number);
    known.target = findArchitecture(block);
    return code;
  });
}

Result<std::uint64_t> Device::allocateInOrder(std::size_t bytes,
                                              StreamHandle stream) {
  std::uint64_t address = 0;
  std::string doing = "allocating " + std::to_string(bytes) + " bytes";
  auto made = run(doing.c_str(), [&](const Driver &driver) {
    return known.hasPools ? driver.allocateInOrder(&address, bytes, stream)
                          : driver.allocate(&address, bytes);
  });
  if (!made)
    return made.error();
  return address;
}

Result<std::monostate> Device::releaseInOrder(std::uint64_t address,
                                              StreamHandle stream) {
  // Without pools a driver waits until nobody can use the memory any more.
  return giveBack("releasing memory", [&](const Driver &driver) {
    return known.hasPools ? driver.releaseInOrder(address, stream)
                          : driver.release(address);
  });
}

Result<std::monostate> Device::copyIn(std::uint64_t target, const void *source,
                                      std::size_t bytes, StreamHandle stream) {
  return run("copying to the device", [&](const Driver &driver) {
    return driver.copyIn(target, source, bytes, stream);
  });
}

Result<std::monostate> Device::copyOut(void *target, std::uint64_t source,
                                       std::size_t bytes, StreamHandle stream) {
  return run("copying from the device", [&](const Driver &driver) {
    return driver.copyOut(target, source, bytes, stream);
  });
}

Result<std::monostate> Device::fill(std::uint64_t target, unsigned char value,
                                    std::size_t bytes, StreamHandle stream) {
  return run("filling memory", [&](const Driver &driver) {
    return driver.fillBytes(target, value, bytes, stream);
  });
}

Result<bool> Device::isCapturing(StreamHandle stream) {
  int status = 0;
  auto asked = run("asking for a stream's state", [&](const Driver &driver) {
    return driver.isCapturing(stream, &status);
  });
  if (!asked)
    return asked.error();
  return status != 0;
}

Result<std::monostate> Device::wait(StreamHandle stream) {
  return run("waiting for a stream", [&](const Driver &driver) {
    return driver.waitForStream(stream);
  });
}

Result<std::monostate> Device::waitForAll() {
  return run("waiting for the device",
             [](const Driver &driver) { return driver.waitForAll(); });
}

Result<std::monostate> Device::read(void *target, std::uint64_t source,
                                    std::size_t bytes) {
  auto read = copyOut(target, source, bytes, nullptr);
  return read ? wait(nullptr) : read;
}

} // namespace quern::jit
