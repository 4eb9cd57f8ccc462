// What a forked child finds: locks that nobody holds, and no work of threads
// that it does not have.
#pragma once

#include <functional>
#include <mutex>

namespace quern::jit {

/// Called around every fork of the process while it lives.
class ForkHandler {
public:
  /// `before` takes the locks that the child needs, and waits for no code of a
  /// user's. `after` gives them back; in the child it also forgets what other
  /// threads were doing.
  ForkHandler(std::function<void()> before,
              std::function<void(bool isChild)> after);
  ~ForkHandler();
  ForkHandler(const ForkHandler &) = delete;
  ForkHandler &operator=(const ForkHandler &) = delete;

private:
  friend struct ForkRegistry;
  const std::function<void()> before;
  const std::function<void(bool isChild)> after;
};

/// A mutex for what LLVM or a linker keeps in globals. Forks wait for whoever
/// holds it: work that ends soon.
class ProcessMutex {
public:
  ProcessMutex();
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  std::mutex mutex;
  const ForkHandler forks;
};

/// While a thread works with MLIR. MLIR keeps data for each thread and context:
/// when such a thread ends, destructors take locks of every context that it has
/// worked with, idle ones as well. Forks wait until none is in there, so that
/// no child finds them taken.
class ThreadOfMlir {
public:
  ThreadOfMlir();
  ~ThreadOfMlir();
  ThreadOfMlir(const ThreadOfMlir &) = delete;
  ThreadOfMlir &operator=(const ThreadOfMlir &) = delete;
};

} // namespace quern::jit
