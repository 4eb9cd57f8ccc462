// Who makes a kernel, who waits for it, and which one is dropped.
#include "jit/session/Slots.h"

#include "jit/session/Compiler.h"

using namespace quern;
using namespace quern::jit;

/// Gives up the claim to make a kernel unless it was made, however the maker
/// ends.
struct Slots::Claim {
  Claim(Slots &owner, const std::string &key) : owner(owner), key(key) {}
  ~Claim() { owner.settle(key, std::move(made)); }
  Claim(const Claim &) = delete;
  Claim &operator=(const Claim &) = delete;

  Slots &owner;
  const std::string &key;
  Kernel made;
};

Slots::Kernel Slots::find(const std::string &key) {
  std::lock_guard guard(lock);
  auto slot = slots.find(key);
  if (slot == slots.end() || !slot->second.kernel)
    return nullptr;
  used.splice(used.begin(), used, slot->second.place);
  return slot->second.kernel;
}

/// Whether the caller is to make the kernel: it is not there, and nobody else
/// makes it any more.
bool Slots::claim(const std::string &key, std::stop_token stop, Kernel &found) {
  std::unique_lock guard(lock);
  auto isSettled = [&] {
    auto slot = slots.find(key);
    return slot == slots.end() || slot->second.kernel;
  };
  // Held: an abandoned wait may outlast a fork's exchange.
  std::shared_ptr<std::condition_variable_any> signal = changed;
  if (!signal->wait(guard, stop, isSettled))
    return false;
  auto [slot, isNew] = slots.try_emplace(key);
  if (isNew)
    return true;
  used.splice(used.begin(), used, slot->second.place);
  found = slot->second.kernel;
  return false;
}

/// The slots that are dropped for others; the lock is held.
std::vector<Slots::Kernel> Slots::dropOldest() {
  std::vector<Kernel> dropped;
  while (used.size() > limit) {
    auto last = slots.find(used.back());
    dropped.push_back(std::move(last->second.kernel));
    slots.erase(last);
    used.pop_back();
  }
  return dropped;
}

void Slots::settle(const std::string &key, Kernel made) {
  // Outside of the lock: kernels that are dropped unload their code.
  std::vector<Kernel> dropped;
  std::lock_guard guard(lock);
  auto slot = slots.find(key);
  if (!made) {
    slots.erase(slot);
  } else {
    used.push_front(key);
    slot->second = {std::move(made), used.begin()};
  }
  dropped = dropOldest();
  changed->notify_all();
}

void Slots::add(const std::string &key, Kernel made) {
  std::vector<Kernel> dropped;
  std::lock_guard guard(lock);
  auto [slot, isNew] = slots.try_emplace(key);
  if (!isNew)
    return;
  used.push_front(key);
  slot->second = {std::move(made), used.begin()};
  dropped = dropOldest();
}

Result<Slots::Kernel> Slots::get(const std::string &key, std::stop_token stop,
                                 Make make) {
  Kernel found;
  if (!claim(key, stop, found)) {
    if (found)
      return found;
    return Error{"interrupted", {}};
  }
  Claim mine(*this, key);
  Result<Kernel> made = make();
  if (made)
    mine.made = *made;
  return made;
}

void Slots::afterFork(bool isChild) {
  if (isChild) {
    std::erase_if(slots, [](const auto &slot) { return !slot.second.kernel; });
    // What it knows of waiters is of threads that the child does not have; its
    // destructor would wait for them.
    new std::shared_ptr(std::move(changed));
    changed = std::make_shared<std::condition_variable_any>();
  }
  lock.unlock();
}
