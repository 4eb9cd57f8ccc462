// Finds the OpenMP library that torch has loaded, and starts regions in it.
#include "backend-torch/run/Threads.h"
#include "backend-torch/run/Stable.h"

#include <algorithm>

#include <dlfcn.h>
#include <unistd.h>

namespace quern {

namespace {
/// What both libgomp and LLVM's libomp export. Compiled pragmas would bring a
/// second library with threads of its own.
struct OpenMP {
  using Region = void (*)(void (*body)(void *), void *data, unsigned threads,
                          unsigned flags);
  Region region = nullptr;
  int (*threadNumber)() = nullptr;
  int (*isInside)() = nullptr;
  pid_t process = getpid(); ///< a forked child has no threads

  OpenMP() {
    auto find = [](const char *name, auto &function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(RTLD_DEFAULT, name));
    };
    find("omp_get_thread_num", threadNumber);
    find("omp_in_parallel", isInside);
    if (threadNumber && isInside)
      find("GOMP_parallel", region);
  }
};

struct Members {
  void (*body)(void *context, int member);
  void *context;
  int (*threadNumber)();
};
} // namespace

/// Until when the threads of the caller's regions surely spin.
static thread_local std::chrono::steady_clock::time_point awake;
static constexpr std::chrono::milliseconds Spin(2);

void noteOperator(std::chrono::steady_clock::time_point start) {
  // One that takes no longer than this starts no region.
  constexpr std::chrono::microseconds least(20);
  auto now = std::chrono::steady_clock::now();
  if (now - start > least)
    awake = now + Spin;
}

bool onTorchThreads(void (*body)(void *context, int member), void *context,
                    int members) {
  static const OpenMP openmp;
  members = std::min(members, torchThreads());
  if (std::chrono::steady_clock::now() > awake || members < 2 ||
      !openmp.region || openmp.isInside() || getpid() != openmp.process)
    return false;
  Members job{body, context, openmp.threadNumber};
  openmp.region(
      [](void *data) {
        auto *job = static_cast<Members *>(data);
        job->body(job->context, job->threadNumber());
      },
      &job, static_cast<unsigned>(members), 0);
  awake = std::chrono::steady_clock::now() + Spin;
  return true;
}

} // namespace quern
