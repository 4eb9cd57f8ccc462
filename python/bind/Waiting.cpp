// Compiles on a thread of its own, so that the caller's can answer signals.
#include "python/bind/Waiting.h"

#include <Python.h>
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

void finish(const std::shared_ptr<Work> &work, BoundKernel kernel) {
  Result<std::monostate> result = kernel.ready();
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

Result<std::monostate> withoutLock(BoundKernel kernel) {
  PyThreadState *state = PyEval_SaveThread();
  auto result = kernel.ready();
  PyEval_RestoreThread(state);
  return result;
}

} // namespace

std::optional<Result<std::monostate>> awaitCode(BoundKernel kernel) {
  constexpr std::chrono::milliseconds step(100);
  if (kernel.readyAtOnce())
    return std::monostate();
  // A device's driver keeps what is current for each thread.
  if (kernel.device() != DeviceId{})
    return withoutLock(kernel);
  auto work = std::make_shared<Work>();
  try {
    std::thread(finish, work, kernel).detach();
  } catch (const std::system_error &) { // no more threads
    return withoutLock(kernel);
  }
  while (true) {
    PyThreadState *state = PyEval_SaveThread();
    bool done = isDone(*work, step);
    PyEval_RestoreThread(state);
    if (done)
      return std::move(*work->result);
    if (PyErr_CheckSignals() == 0)
      continue;
    abandon(*work);
    return std::nullopt;
  }
}

} // namespace quern::python
