// The parts of DLPack's C ABI through which tensors are exchanged.
#pragma once

#include <cstdint>

namespace quern::python {

struct DLDevice {
  std::int32_t type;
  std::int32_t id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape;
  std::int64_t *strides;
  std::uint64_t byteOffset;
};

struct DLVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

/// What a "dltensor" capsule holds.
struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};

/// What a "dltensor_versioned" capsule holds.
struct DLManagedTensorVersioned {
  DLVersion version;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *);
  std::uint64_t flags;
  DLTensor tensor;
};

inline constexpr std::uint64_t kReadOnlyFlag = 1;
inline constexpr std::int32_t kCpuDevice = 1;
inline constexpr std::int32_t kCudaDevice = 2;
inline constexpr std::int32_t kCudaHostDevice = 3;
inline constexpr std::int32_t kRocmDevice = 10;
inline constexpr std::int32_t kRocmHostDevice = 11;

/// The table a framework hangs on its tensor type as the capsule
/// `__dlpack_c_exchange_api__`: no Python call per tensor.
struct DLExchangeApi {
  DLVersion version;
  DLExchangeApi *previous;
  int (*allocate)(DLTensor *prototype, DLManagedTensorVersioned **out,
                  void *errorContext,
                  void (*setError)(void *, const char *, const char *));
  int (*fromObject)(void *object, DLManagedTensorVersioned **out);
  int (*toObject)(DLManagedTensorVersioned *tensor, void **object);
  int (*borrow)(void *object, DLTensor *out);
  int (*currentStream)(std::int32_t device, std::int32_t id, void **stream);
};

} // namespace quern::python
