// Opens a driver library and fills the table of its functions.
#include "jit/device/Driver.h"

#include <array>
#include <dlfcn.h>
#include <link.h>
#include <span>
#include <string_view>

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

/// What systems call a vendor's library: where ROCm has no files for
/// developers, its name has the release.
constexpr std::array<const char *, 1> cudaNames = {"libcuda.so.1"};
constexpr std::array<const char *, 4> hipNames = {
    "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
    "libamdhip64.so.5"};

std::span<const char *const> libraryNames(Vendor vendor) {
  if (vendor == Vendor::Cuda)
    return cudaNames;
  return hipNames;
}

/// The file of a library whose name begins so and that this process has.
std::string loadedFile(const char *name) {
  struct Search {
    std::string_view name;
    std::string file;
  } search{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info *info, std::size_t, void *data) {
        Search &search = *static_cast<Search *>(data);
        std::string_view file(info->dlpi_name);
        if (file.substr(file.rfind('/') + 1).starts_with(search.name))
          search.file = file;
        return search.file.empty() ? 0 : 1;
      },
      &search);
  return search.file;
}

/// Frameworks bring a HIP of their own, and streams and pointers of one mean
/// nothing to another: what is there already is taken first.
void *openLibrary(Vendor vendor) {
  std::span<const char *const> names = libraryNames(vendor);
  if (std::string file = loadedFile(names.front()); !file.empty())
    if (void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD))
      return library;
  for (const char *name : names)
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return library;
  // For the error that names what a developer's system has.
  return dlopen(names.front(), RTLD_NOW | RTLD_LOCAL);
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
  const char *name = path.empty() ? libraryNames(vendor).front() : path.c_str();
  void *library =
      path.empty() ? openLibrary(vendor) : dlopen(name, RTLD_NOW | RTLD_LOCAL);
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
    return unavailable(vendor, std::string(name) + " lacks `" +
                                   symbols.missing +
                                   "`; a later driver has it");
  if (int code = driver->init(0))
    return driver->error("starting the driver", code);
  return std::shared_ptr<const Driver>(std::move(driver));
}

} // namespace quern::jit
