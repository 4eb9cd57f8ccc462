// The table of driver functions against the vendors' own headers, where there
// are any: it compiles only if each row takes what the driver takes.
#include "jit/device/Driver.h"

#include <type_traits>

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

#if QN_HAVE_CUDA_HEADER
#include <cuda.h>
#define QN_CUDA_DRIVER(name, symbol, ...)                                      \
  static_assert(                                                               \
      sameCall(decltype (&symbol)(), (int (*)(__VA_ARGS__)) nullptr),          \
      #symbol);
#include "jit/device/Driver.def"
#endif

#if QN_HAVE_HIP_HEADER
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#include <hip/hip_runtime_api.h>
/// Chooses the function where the header adds templates of the same name.
template <typename... Theirs>
constexpr auto plain(hipError_t (*function)(Theirs...)) {
  return function;
}
constexpr auto plain(hipError_t (*function)(void **, size_t)) {
  return function;
}
#define QN_HIP_DRIVER(name, symbol, ...)                                       \
  static_assert(sameCall(plain(&symbol), (int (*)(__VA_ARGS__)) nullptr),      \
                #symbol);
#include "jit/device/Driver.def"
#endif
