// Opens a driver library and fills the table of its functions.
#include "jit/device/Driver.h"

#include <dlfcn.h>

namespace quern::jit {
namespace {

DriverNumbers numbersOf(Vendor vendor) {
  bool isCuda = vendor == Vendor::Cuda;
  return {
#define QN_DRIVER(...)
#define QN_NUMBER(name, cuda, hip) .name = isCuda ? cuda : hip,
#include "jit/device/Driver.def"
  };
}

const char *libraryName(Vendor vendor) {
  return vendor == Vendor::Cuda ? "libcuda.so.1" : "libamdhip64.so";
}

/// Finds symbols and remembers the first that is missing.
class Symbols {
public:
  explicit Symbols(void *library) : library(library) {}

  template <typename Function>
  void find(Function *&target, const char *symbol) {
    target = reinterpret_cast<Function *>(dlsym(library, symbol));
    if (!target && !missing)
      missing = symbol;
  }

  const char *missing = nullptr;

private:
  void *library;
};

void findAll(Driver &driver, Symbols &symbols) {
  if (driver.vendor == Vendor::Cuda) {
#define QN_DRIVER(name, cuda, hip, ...) symbols.find(driver.name, #cuda);
#define QN_CUDA_DRIVER(name, symbol, ...)                                      \
  symbols.find(driver.cuda_##name, #symbol);
#include "jit/device/Driver.def"
    return;
  }
#define QN_DRIVER(name, cuda, hip, ...) symbols.find(driver.name, #hip);
#define QN_HIP_DRIVER(name, symbol, ...)                                       \
  symbols.find(driver.hip_##name, #symbol);
#include "jit/device/Driver.def"
  symbols.find(driver.hipErrorText, "hipGetErrorString");
}

/// What was being done when no driver could be had.
Error unavailable(Vendor vendor, std::string why) {
  return {std::string("no ") + (vendor == Vendor::Cuda ? "CUDA" : "HIP") +
              " driver: " + why,
          {}};
}

} // namespace

const char *Driver::vendorName() const {
  return vendor == Vendor::Cuda ? "CUDA" : "HIP";
}

Error Driver::error(std::string doing, int code) const {
  const char *text = nullptr;
  if (vendor == Vendor::Hip)
    text = hipErrorText(code);
  else if (cuda_errorText(code, &text) != 0)
    text = nullptr;
  std::string message = std::move(doing) + " failed: ";
  message += text ? text : "the driver has no text for it";
  return {message + " (" + vendorName() + " error " + std::to_string(code) +
              ")",
          {}};
}

Result<std::shared_ptr<const Driver>> openDriver(Vendor vendor,
                                                 const std::string &path) {
  const char *name = path.empty() ? libraryName(vendor) : path.c_str();
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return unavailable(vendor, why ? why : name);
  }
  auto driver = std::make_shared<Driver>();
  driver->vendor = vendor;
  driver->numbers = numbersOf(vendor);
  Symbols symbols(library);
  findAll(*driver, symbols);
  if (symbols.missing)
    return unavailable(vendor,
                       std::string(name) + " lacks `" + symbols.missing + "`");
  if (int code = driver->init(0))
    return driver->error("starting the driver", code);
  return std::shared_ptr<const Driver>(std::move(driver));
}

} // namespace quern::jit
