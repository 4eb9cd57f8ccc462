// Opens drivers and devices, once each.
#include "jit/session/Devices.h"

#include "jit/codegen/Codegen.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace quern::jit {

Result<std::shared_ptr<SessionDevice>> Devices::get(DeviceId id) {
  std::lock_guard guard(opened->lock);
  std::shared_ptr<SessionDevice> &known = opened->devices[{id.kind, id.number}];
  if (known)
    return known;
  auto made = open(id);
  if (made)
    known = *made;
  return made;
}

void Devices::afterFork(bool isChild) {
  if (!isChild)
    return;
  // Threads that the child does not have may hold what is in there.
  (void)opened.release();
  opened = std::make_unique<Opened>();
}

Result<std::shared_ptr<SessionDevice>> Devices::open(DeviceId id) {
  std::shared_ptr<const Driver> &driver = opened->drivers[id.kind];
  if (!driver) {
    auto found =
        openDriver(id.kind == DeviceKind::Cuda ? Vendor::Cuda : Vendor::Hip);
    if (!found)
      return found.error();
    driver = *found;
  }
  auto device = Device::open(driver, id.number);
  if (!device)
    return device.error();
  SessionOptions own = options;
  own.target = targetFor((*device)->facts().target);
  if (auto target = findTarget(own.target); !target)
    return Error{"`" + (*device)->facts().name + "`: " + target.error().message,
                 {}};
  return std::make_shared<SessionDevice>(own, limits, std::move(*device));
}

Result<std::shared_ptr<const Device::Image>>
SessionDevice::load(const std::shared_ptr<const CompiledKernel> &kernel) {
  Loaded &known = images[kernel.get()];
  if (!known.image) {
    auto made = device->load(kernel->image);
    if (!made)
      return made.error();
    known = {kernel, std::make_shared<const Device::Image>(std::move(*made))};
  }
  return known.image;
}

Result<SessionDevice::Entry>
SessionDevice::entry(const std::shared_ptr<const CompiledKernel> &kernel,
                     const std::string &symbol) {
  std::lock_guard guard(loading);
  Entry &known = entries[{kernel.get(), symbol}];
  if (!known.image) {
    auto image = load(kernel);
    if (!image)
      return image.error();
    auto function = (*image)->function(symbol);
    if (!function)
      return function.error();
    known = {*image, *function};
  }
  return known;
}

std::string targetFor(const std::string &architecture) {
  llvm::StringRef stem = "sm_", name = architecture;
  int wanted = 0, best = 0;
  if (!name.consume_front(stem) || name.getAsInteger(10, wanted))
    return architecture;
  for (llvm::StringRef known : {
#define QN_TARGET(...)
#define QN_GPU_TARGET(name, ...) llvm::StringRef(name),
#include "dsl/target/Targets.def"
       }) {
    int number = 0;
    if (known.consume_front(stem) && !known.getAsInteger(10, number) &&
        number <= wanted)
      best = std::max(best, number);
  }
  return best ? (stem + llvm::Twine(best)).str() : architecture;
}

} // namespace quern::jit
