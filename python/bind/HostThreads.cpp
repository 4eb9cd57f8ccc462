// How many threads torch lets operators have.
#include "python/bind/HostThreads.h"

#include <atomic>
#include <dlfcn.h>

namespace quern::python {

namespace {
using Count = int (*)();
std::atomic<Count> torchThreads{nullptr};
} // namespace

int hostThreads() {
  Count count = torchThreads.load(std::memory_order_relaxed);
  return count ? count() : 0;
}

void findHostThreads() {
  if (torchThreads.load(std::memory_order_relaxed))
    return;
  void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return;
  // at::get_num_threads()
  void *found = dlsym(library, "_ZN2at15get_num_threadsEv");
  torchThreads.store(reinterpret_cast<Count>(found));
  dlclose(library);
}

} // namespace quern::python
