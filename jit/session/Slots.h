// Kernels in memory by their keys: each is made once, and the least recently
// used ones are dropped.
#pragma once

#include "jit/Jit.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <stop_token>
#include <vector>

namespace quern::jit {

struct CompiledKernel;

/// Thread-safe. A kernel that is dropped lives on for those who hold it.
class Slots {
public:
  using Kernel = std::shared_ptr<const CompiledKernel>;
  using Make = llvm::function_ref<Result<Kernel>()>;

  /// Keeps no more than `limit` kernels.
  explicit Slots(std::size_t limit) : limit(limit) {}

  /// Null where the kernel is not there.
  Kernel find(const std::string &key);
  /// The kernel that is there, that another thread is making, or that `make`
  /// makes. A failure is not kept: the next request tries, and reports, again.
  Result<Kernel> get(const std::string &key, std::stop_token stop, Make make);
  /// Adds a kernel that was made together with another one, unless the key is
  /// taken.
  void add(const std::string &key, Kernel made);

  /// Around a fork: nobody changes the slots, and the child forgets what other
  /// threads of its parent were making.
  void beforeFork() { lock.lock(); }
  void afterFork(bool isChild);

private:
  using Order = std::list<std::string>;
  struct Slot {
    Kernel kernel; ///< null while it is being made
    Order::iterator place = {};
  };
  struct Claim;

  bool claim(const std::string &key, std::stop_token stop, Kernel &found);
  void settle(const std::string &key, Kernel made);
  std::vector<Kernel> dropOldest();

  const std::size_t limit;
  std::mutex lock;
  std::map<std::string, Slot> slots;
  Order used; ///< keys of kernels that are there, the last used first
  /// A child's waiters are not those of its parent: it gets another one.
  std::shared_ptr<std::condition_variable_any> changed =
      std::make_shared<std::condition_variable_any>();
};

} // namespace quern::jit
