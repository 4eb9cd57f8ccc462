// Compiles on a thread of its own, so that the caller's can answer signals.
#include "python/bind/Waiting.h"

#include <Python.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace quern::python {
namespace {

/// One compilation, kept by whoever is longest interested in it.
struct Work {
  std::mutex lock;
  std::condition_variable ended;
  std::optional<Result<std::monostate>> result;
  bool isUnheard = false;
};

/// Compilations that nobody waits for any more.
std::atomic<int> unheard = 0;

/// A process that ends does not take from a compiler what it works with: it
/// ends at once, behind what Python has done for its end.
void leaveAtOnce(int status, void *) {
  if (unheard == 0)
    return;
  std::fflush(nullptr);
  _exit(status);
}

using Kernels = std::vector<BoundKernel>;

Result<std::monostate> make(Kernels &kernels) {
  for (BoundKernel &kernel : kernels)
    if (auto ready = kernel.ready(); !ready)
      return ready;
  return std::monostate();
}

bool areReady(Kernels &kernels) {
  return std::ranges::all_of(
      kernels, [](BoundKernel &kernel) { return kernel.readyAtOnce(); });
}

void finish(const std::shared_ptr<Work> &work, Kernels kernels) {
  Result<std::monostate> result = make(kernels);
  std::lock_guard guard(work->lock);
  work->result = std::move(result);
  unheard -= work->isUnheard;
  work->ended.notify_all();
}

/// Leaves the work to itself, unless it is done.
void abandon(Work &work) {
  static const int registered = on_exit(leaveAtOnce, nullptr);
  (void)registered;
  std::lock_guard guard(work.lock);
  work.isUnheard = !work.result;
  unheard += work.isUnheard;
}

bool isDone(Work &work, std::chrono::milliseconds most) {
  std::unique_lock guard(work.lock);
  return work.ended.wait_for(guard, most,
                             [&] { return work.result.has_value(); });
}

Result<std::monostate> withoutLock(Kernels &kernels) {
  PyThreadState *state = PyEval_SaveThread();
  auto result = make(kernels);
  PyEval_RestoreThread(state);
  return result;
}

/// How long a signal waits to be answered.
constexpr std::chrono::milliseconds step(100);

class Waiter : public CodeWaiter {
public:
  Result<std::monostate> wait(const Kernels &kernels) override {
    Kernels made = kernels;
    if (areReady(made) && !isTime())
      return std::monostate();
    PyGILState_STATE state = PyGILState_Ensure();
    auto result = awaitCode(std::move(made));
    if (result && *result && PyErr_CheckSignals() != 0)
      result = std::nullopt;
    PyGILState_Release(state);
    return result ? std::move(*result) : Error{"interrupted", {}};
  }
  bool goesOn() override {
    if (!isTime())
      return true;
    PyGILState_STATE state = PyGILState_Ensure();
    bool goes = PyErr_CheckSignals() == 0;
    PyGILState_Release(state);
    return goes;
  }
};

} // namespace

std::optional<Result<std::monostate>> awaitCode(Kernels kernels) {
  if (areReady(kernels))
    return std::monostate();
  // A device's driver keeps what is current for each thread.
  if (std::ranges::any_of(kernels, [](const BoundKernel &kernel) {
        return kernel.device() != DeviceId{};
      }))
    return withoutLock(kernels);
  auto work = std::make_shared<Work>();
  try {
    std::thread(finish, work, kernels).detach();
  } catch (const std::system_error &) { // no more threads
    return withoutLock(kernels);
  }
  while (true) {
    PyThreadState *state = PyEval_SaveThread();
    bool done = isDone(*work, step);
    PyEval_RestoreThread(state);
    if (done)
      return std::move(work->result);
    if (PyErr_CheckSignals() == 0)
      continue;
    abandon(*work);
    return std::nullopt;
  }
}

std::shared_ptr<CodeWaiter> makeCodeWaiter() {
  return std::make_shared<Waiter>();
}

} // namespace quern::python
