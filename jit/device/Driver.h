// A vendor's driver library, opened at run time: a table of its functions.
#pragma once

#include "jit/Jit.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace quern::jit {

enum class Vendor : std::uint8_t { Cuda, Hip };

/// What a vendor numbers in its own way.
struct DriverNumbers {
#define QN_DRIVER(...)
#define QN_NUMBER(name, cuda, hip) int name;
#include "jit/device/Driver.def"
};

/// The functions of one driver. Rows of the other vendor are null.
struct Driver {
  Vendor vendor = Vendor::Cuda;
  DriverNumbers numbers;

#define QN_CUDA_DRIVER(name, symbol, ...) int (*cuda_##name)(__VA_ARGS__);
#define QN_HIP_DRIVER(name, symbol, ...) int (*hip_##name)(__VA_ARGS__);
#define QN_DRIVER(name, cuda, hip, ...) int (*name)(__VA_ARGS__);
#include "jit/device/Driver.def"
  const char *(*hipErrorText)(int code);

  /// "CUDA", "HIP".
  const char *vendorName() const;
  /// `doing` and the driver's own sentence for a code that is not success.
  Error error(std::string doing, int code) const;
};

/// Opens the vendor's library by its usual name or from `path`, and starts the
/// driver. It stays open for the life of the process: drivers do not survive
/// being unloaded.
Result<std::shared_ptr<const Driver>> openDriver(Vendor vendor,
                                                 const std::string &path = "");

} // namespace quern::jit
