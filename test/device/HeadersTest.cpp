// The driver's functions and numbers against the vendors' own headers, where
// there are any: it compiles only if each row is what a header says.
#include "jit/device/Driver.h"

#include <gtest/gtest.h>
#include <type_traits>

#if QN_HAVE_CUDA_HEADER
#include <cuda.h>
#endif
#if QN_HAVE_HIP_HEADER
#include <hip/hip_runtime_api.h>
#endif

#if QN_HAVE_CUDA_HEADER || QN_HAVE_HIP_HEADER
namespace {

/// Whether one type is passed as the other is: as a pointer, or as a number of
/// the same size. HIP's device addresses are pointers.
template <typename Theirs, typename Ours>
constexpr bool samePlace =
    sizeof(Theirs) == sizeof(Ours) && !std::is_floating_point_v<Theirs> &&
    !std::is_floating_point_v<Ours>;

template <typename Status, typename... Theirs, typename... Ours>
constexpr bool sameCall(Status (*)(Theirs...), int (*)(Ours...)) {
  if constexpr (sizeof...(Theirs) != sizeof...(Ours))
    return false;
  else
    return sizeof(Status) == sizeof(int) && (samePlace<Theirs, Ours> && ...);
}

} // namespace
#endif

#if QN_HAVE_CUDA_HEADER
#define QN_CUDA_DRIVER(name, symbol, ...)                                      \
  static_assert(                                                               \
      sameCall(decltype (&symbol)(), (int (*)(__VA_ARGS__)) nullptr),          \
      #symbol);
#include "jit/device/Driver.def"

namespace {
namespace cuda {
constexpr int warpSize = CU_DEVICE_ATTRIBUTE_WARP_SIZE;
constexpr int processors = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
constexpr int sharedBytes =
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
constexpr int blockThreads = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
constexpr int hasPools = CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
constexpr int capabilityMajor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
constexpr int capabilityMinor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
constexpr int poolKeeps = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
constexpr int localBytes = CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
constexpr int registers = CU_FUNC_ATTRIBUTE_NUM_REGS;
constexpr int dynamicShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
constexpr int errorLog = CU_JIT_ERROR_LOG_BUFFER;
constexpr int errorLogBytes = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
constexpr int nonBlocking = CU_STREAM_NON_BLOCKING;
constexpr int withoutTiming = CU_EVENT_DISABLE_TIMING;
constexpr int outOfMemory = CUDA_ERROR_OUT_OF_MEMORY;
constexpr int noDevice = CUDA_ERROR_NO_DEVICE;
} // namespace cuda
} // namespace

#define QN_DRIVER(...)
#define QN_NUMBER(name, number, other)                                         \
  static_assert(cuda::name == (number), #name);
#include "jit/device/Driver.def"
#endif

#if QN_HAVE_HIP_HEADER
namespace {
/// Chooses the function where the header adds others of the same name.
template <typename... Theirs>
constexpr auto plain(hipError_t (*function)(Theirs...)) {
  return function;
}
constexpr auto plain(hipError_t (*function)(void **, size_t)) {
  return function;
}
constexpr auto plain(hipError_t (*function)(void **, size_t, hipStream_t)) {
  return function;
}
} // namespace

#define QN_HIP_DRIVER(name, symbol, ...)                                       \
  static_assert(sameCall(plain(&symbol), (int (*)(__VA_ARGS__)) nullptr),      \
                #symbol);
#include "jit/device/Driver.def"
static_assert(
    std::is_same_v<decltype(hipGetErrorString(hipSuccess)), const char *>);

namespace {
namespace hip {
constexpr int warpSize = hipDeviceAttributeWarpSize;
constexpr int processors = hipDeviceAttributeMultiprocessorCount;
constexpr int sharedBytes = hipDeviceAttributeMaxSharedMemoryPerBlock;
constexpr int blockThreads = hipDeviceAttributeMaxThreadsPerBlock;
constexpr int hasPools = hipDeviceAttributeMemoryPoolsSupported;
constexpr int capabilityMajor = hipDeviceAttributeComputeCapabilityMajor;
constexpr int capabilityMinor = hipDeviceAttributeComputeCapabilityMinor;
constexpr int poolKeeps = hipMemPoolAttrReleaseThreshold;
constexpr int localBytes = HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
constexpr int registers = HIP_FUNC_ATTRIBUTE_NUM_REGS;
constexpr int dynamicShared = HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
constexpr int errorLog = hipJitOptionErrorLogBuffer;
constexpr int errorLogBytes = hipJitOptionErrorLogBufferSizeBytes;
constexpr int nonBlocking = hipStreamNonBlocking;
constexpr int withoutTiming = hipEventDisableTiming;
constexpr int outOfMemory = hipErrorOutOfMemory;
constexpr int noDevice = hipErrorNoDevice;
} // namespace hip
} // namespace

#define QN_DRIVER(...)
#define QN_NUMBER(name, other, number)                                         \
  static_assert(hip::name == (number), #name);
#include "jit/device/Driver.def"
#endif

TEST(Headers, OfCudaSayTheSame) {
#if !QN_HAVE_CUDA_HEADER
  GTEST_SKIP() << "no cuda.h here; ./dev setup brings one";
#endif
}

TEST(Headers, OfHipSayTheSame) {
#if !QN_HAVE_HIP_HEADER
  GTEST_SKIP() << "no hip/hip_runtime_api.h here; ./dev setup brings one";
#endif
}
