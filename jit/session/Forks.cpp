// The process's handlers of forks, and who hears of them.
#include "jit/session/Forks.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <vector>

using namespace quern::jit;

namespace {

/// Held by the one thread that is destroying what MLIR keeps for it.
std::mutex &endOfThread() {
  // Never destroyed: threads may end after the process's own destructors.
  static auto &lock = *new std::mutex;
  return lock;
}

/// Made before MLIR's own data, and so destroyed behind it.
struct Behind {
  ~Behind() {
    if (isTaken)
      endOfThread().unlock();
  }
  bool isTaken = false;

  static Behind &get() {
    static thread_local Behind data;
    return data;
  }
};

/// Made after MLIR's own data, and so destroyed before it.
struct Before {
  ~Before() {
    endOfThread().lock();
    Behind::get().isTaken = true;
  }
};

} // namespace

ThreadOfMlir::ThreadOfMlir() { Behind::get(); }

ThreadOfMlir::~ThreadOfMlir() {
  static thread_local Before data;
  (void)data;
}

/// `pthread_atfork` takes functions without an argument, once a process.
struct quern::jit::ForkRegistry {
  ForkRegistry() { pthread_atfork(before, inParent, inChild); }

  static ForkRegistry &get() {
    // Never destroyed: a process may fork while it ends.
    static auto &registry = *new ForkRegistry;
    return registry;
  }
  static void before() {
    ForkRegistry &registry = get();
    registry.lock.lock();
    for (ForkHandler *each : registry.handlers)
      each->before();
    endOfThread().lock();
  }
  void after(bool isChild) {
    endOfThread().unlock();
    std::for_each(handlers.rbegin(), handlers.rend(),
                  [&](ForkHandler *each) { each->after(isChild); });
    lock.unlock();
  }
  static void inParent() { get().after(false); }
  static void inChild() { get().after(true); }

  std::mutex lock;
  std::vector<ForkHandler *> handlers;
};

ForkHandler::ForkHandler(std::function<void()> before,
                         std::function<void(bool isChild)> after)
    : before(std::move(before)), after(std::move(after)) {
  ForkRegistry &registry = ForkRegistry::get();
  std::lock_guard guard(registry.lock);
  registry.handlers.push_back(this);
}

ProcessMutex::ProcessMutex()
    : forks([this] { lock(); }, [this](bool) { unlock(); }) {}

ForkHandler::~ForkHandler() {
  ForkRegistry &registry = ForkRegistry::get();
  std::lock_guard guard(registry.lock);
  std::erase(registry.handlers, this);
}
