// What a launch costs the host: Quern's call against the driver's own.
#include "jit/C.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace {

/// A driver, CUDA's or HIP's: what the comparison needs of it.
struct Driver {
  bool isHip = false;
  int device = 0;
  int (*init)(unsigned) = nullptr;
  int (*allocate)(std::uint64_t *, std::size_t) = nullptr;
  int (*fill)(std::uint64_t, unsigned char, std::size_t, void *) = nullptr;
  int (*wait)(void *) = nullptr;
  // CUDA
  int (*retain)(void **, int) = nullptr;
  int (*setContext)(void *) = nullptr;
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, unsigned, void *, void **, void **) = nullptr;
  int (*load)(void **, const void *, unsigned, int *, void **) = nullptr;
  int (*find)(void **, void *, const char *) = nullptr;
  // HIP
  int (*setDevice)(int) = nullptr;

  bool begin() const {
    void *context = nullptr;
    if (init(0) != 0)
      return false;
    return isHip ? setDevice(device) == 0
                 : retain(&context, device) == 0 && setContext(context) == 0;
  }

  /// Memory of zeros; null where there is none.
  void *zeros(std::size_t bytes) const {
    std::uint64_t at = 0;
    bool isMade = allocate(&at, bytes) == 0 && fill(at, 0, bytes, nullptr) == 0;
    return isMade ? reinterpret_cast<void *>(at) : nullptr;
  }
};

template <typename Function>
bool find(void *library, Function *&target, const char *name) {
  target = reinterpret_cast<Function *>(dlsym(library, name));
  if (!target)
    std::fprintf(stderr, "gpu-runner: no `%s`\n", name);
  return target;
}

/// An empty kernel of one parameter as large as ours.
constexpr const char *kPtx = ".version 7.0\n.target sm_80\n"
                             ".address_size 64\n"
                             ".visible .entry none(.param .b8 p[56]) { ret; }";

bool openCuda(Driver &driver, void *library) {
  return find(library, driver.init, "cuInit") &&
         find(library, driver.retain, "cuDevicePrimaryCtxRetain") &&
         find(library, driver.setContext, "cuCtxPushCurrent_v2") &&
         find(library, driver.allocate, "cuMemAlloc_v2") &&
         find(library, driver.fill, "cuMemsetD8Async") &&
         find(library, driver.wait, "cuStreamSynchronize") &&
         find(library, driver.launch, "cuLaunchKernel") &&
         find(library, driver.load, "cuModuleLoadDataEx") &&
         find(library, driver.find, "cuModuleGetFunction");
}

bool openHip(Driver &driver, void *library) {
  driver.isHip = true;
  return find(library, driver.init, "hipInit") &&
         find(library, driver.setDevice, "hipSetDevice") &&
         find(library, driver.allocate, "hipMalloc") &&
         find(library, driver.fill, "hipMemsetD8Async") &&
         find(library, driver.wait, "hipStreamSynchronize");
}

bool open(Driver &driver) {
  if (void *library = dlopen("libcuda.so.1", RTLD_NOW))
    return openCuda(driver, library);
  for (const char *name : {"libamdhip64.so", "libamdhip64.so.7",
                           "libamdhip64.so.6", "libamdhip64.so.5"})
    if (void *library = dlopen(name, RTLD_NOW))
      return openHip(driver, library);
  std::fprintf(stderr, "gpu-runner: neither libcuda.so.1 nor libamdhip64.so "
                       "is here\n");
  return false;
}

template <typename Call> double microseconds(const Driver &driver, Call call) {
  constexpr int rounds = 21, calls = 200;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    driver.wait(nullptr);
    auto begin = std::chrono::steady_clock::now();
    for (int number = 0; number < calls; ++number)
      if (call() != 0)
        return -1;
    std::chrono::duration<double, std::micro> spent =
        std::chrono::steady_clock::now() - begin;
    times.push_back(spent.count() / calls);
  }
  driver.wait(nullptr);
  std::ranges::nth_element(times, times.begin() + rounds / 2);
  return times[rounds / 2];
}

struct Quern {
  decltype(&quern_open) open;
  decltype(&quern_compile) compile;
  decltype(&quern_bind) bind;
  decltype(&quern_run_on) run;
};

bool openQuern(Quern &quern, const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "gpu-runner: %s\n", dlerror());
    return false;
  }
  return find(library, quern.open, "quern_open") &&
         find(library, quern.compile, "quern_compile") &&
         find(library, quern.bind, "quern_bind") &&
         find(library, quern.run, "quern_run_on");
}

constexpr const char *kText =
    "elementwise twice(x: f32) -> f32:\n    return x + x\n";

/// The driver's own launch of an empty kernel of the same parameter; only
/// CUDA's takes it as text.
double ownLaunch(const Driver &driver) {
  void *module = nullptr, *none = nullptr;
  if (driver.isHip || driver.load(&module, kPtx, 0, nullptr, nullptr) ||
      driver.find(&none, module, "none"))
    return -1;
  std::uint64_t words[7] = {};
  void *parameters[] = {words};
  return microseconds(driver, [&] {
    return driver.launch(none, 8, 1, 1, 128, 1, 1, 0, nullptr, parameters,
                         nullptr);
  });
}

int measure(const Driver &driver, const Quern &quern) {
  constexpr std::int64_t count = 1024;
  void *pointers[] = {driver.zeros(4 * count), driver.zeros(4 * count)};
  if (!pointers[0] || !pointers[1]) {
    std::fprintf(stderr, "gpu-runner: the driver has no memory\n");
    return 1;
  }
  char *error = nullptr;
  const std::int64_t one = 1;
  quern_argument given{};
  given.kind = QUERN_TENSOR;
  given.tensor = {pointers[0],
                  "f32",
                  1,
                  &count,
                  &one,
                  1,
                  (driver.isHip ? QUERN_HIP : QUERN_CUDA) + driver.device};
  quern_session *session = quern.open("-", 1, &error);
  quern_module *text =
      session ? quern.compile(session, kText, "twice.qn", &error) : nullptr;
  quern_kernel *kernel =
      text ? quern.bind(text, "twice", &given, 1, &error) : nullptr;
  if (!kernel) {
    std::fprintf(stderr, "gpu-runner: %s\n", error ? error : "no session");
    return 1;
  }
  double own = ownLaunch(driver);
  double ours = microseconds(
      driver, [&] { return quern.run(kernel, pointers, 2, nullptr, &error); });
  if (ours < 0) {
    std::fprintf(stderr, "gpu-runner: %s\n", error ? error : "no launch");
    return 1;
  }
  constexpr double beside = 0.5;
  std::printf("launch: %.2f us", ours);
  if (own >= 0)
    std::printf(", the driver's own call %.2f us, bar %.1f us more: %s", own,
                beside, ours <= own + beside ? "kept" : "missed");
  std::printf("\n");
  return 0;
}

} // namespace

int main(int count, char **words) {
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: gpu-runner LIBQUERN [DEVICE]\n");
    return 2;
  }
  Driver driver;
  driver.device = count > 2 ? std::atoi(words[2]) : 0;
  Quern quern{};
  if (!open(driver) || !openQuern(quern, words[1]))
    return 2;
  if (!driver.begin()) {
    std::fprintf(stderr, "gpu-runner: the driver has no device %d\n",
                 driver.device);
    return 2;
  }
  return measure(driver, quern);
}
