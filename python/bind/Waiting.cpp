// Works on a thread of its own, so that the caller's can answer signals.
#include "python/bind/Waiting.h"

#include <Python.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace quern::python {
namespace {

/// One piece of work, kept by whoever is longest interested in it.
struct Work {
  explicit Work(std::function<void(std::stop_token)> body)
      : body(std::move(body)) {}

  std::function<void(std::stop_token)> body;
  std::stop_source stop;
  std::exception_ptr thrown;
  std::mutex lock;
  std::condition_variable ended;
  bool isDone = false, isUnheard = false;
};

/// Work that nobody waits for any more, and the process it is in: a forked
/// child has none of it.
std::atomic<int> unheard = 0;
std::atomic<pid_t> unheardIn = 0;

/// A process that ends does not take from a compiler what it works with: it
/// ends at once, behind what Python has done for its end.
void leaveAtOnce(int status, void *) {
  if (unheard == 0 || unheardIn != getpid())
    return;
  std::fflush(nullptr);
  _exit(status);
}

void run(const std::shared_ptr<Work> &work) {
  try {
    work->body(work->stop.get_token());
  } catch (...) {
    work->thrown = std::current_exception();
  }
  std::lock_guard guard(work->lock);
  // What it holds goes before anybody takes the work for done.
  work->body = nullptr;
  work->isDone = true;
  unheard -= work->isUnheard;
  work->ended.notify_all();
}

bool isDone(Work &work, std::chrono::milliseconds most) {
  std::unique_lock guard(work.lock);
  return work.ended.wait_for(guard, most, [&] { return work.isDone; });
}

/// How long a signal waits to be answered, and how long work that is asked to
/// stop is waited for.
constexpr std::chrono::milliseconds step(100);

/// Asks the work to stop. What does not end soon is left to itself.
void abandon(Work &work) {
  static const int registered = on_exit(leaveAtOnce, nullptr);
  (void)registered;
  work.stop.request_stop();
  if (isDone(work, step))
    return;
  std::lock_guard guard(work.lock);
  work.isUnheard = !work.isDone;
  if (unheardIn.exchange(getpid()) != getpid())
    unheard = 0;
  unheard += work.isUnheard;
}

using Kernels = std::vector<BoundKernel>;

Result<std::monostate> make(Kernels &kernels, std::stop_token stop = {}) {
  for (BoundKernel &kernel : kernels)
    if (auto ready = kernel.ready(stop); !ready)
      return ready;
  return std::monostate();
}

bool areReady(Kernels &kernels) {
  return std::ranges::all_of(
      kernels, [](BoundKernel &kernel) { return kernel.readyAtOnce(); });
}

/// The interpreter's lock, given up while this lives.
struct Unlocked {
  PyThreadState *const state = PyEval_SaveThread();
  Unlocked() = default;
  ~Unlocked() { PyEval_RestoreThread(state); }
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;
};

/// The interpreter's lock, taken while this lives.
struct Locked {
  const PyGILState_STATE state = PyGILState_Ensure();
  Locked() = default;
  ~Locked() { PyGILState_Release(state); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;
};

class Waiter : public CodeWaiter {
public:
  Result<std::monostate> wait(const Kernels &kernels) override {
    Kernels made = kernels;
    if (areReady(made) && !isTime())
      return std::monostate();
    Locked locked;
    auto result = awaitCode(std::move(made));
    if (result && *result && PyErr_CheckSignals() != 0)
      result = std::nullopt;
    return result ? std::move(*result) : Error{"interrupted", {}};
  }
  bool goesOn() override {
    if (!isTime())
      return true;
    Locked locked;
    return PyErr_CheckSignals() == 0;
  }
};

} // namespace

bool awaitWork(std::function<void(std::stop_token)> body) {
  auto work = std::make_shared<Work>(std::move(body));
  try {
    std::thread(run, work).detach();
  } catch (const std::system_error &) { // no more threads
    Unlocked unlocked;
    run(work);
  }
  const pid_t process = getpid();
  for (bool done = false; !done;) {
    {
      Unlocked unlocked;
      done = isDone(*work, step);
    }
    if (done)
      continue;
    bool goesOn = PyErr_CheckSignals() == 0;
    if (getpid() != process) {
      // Its parent's thread does the work; the child would wait for ever.
      if (goesOn)
        PyErr_SetString(PyExc_RuntimeError,
                        "a signal handler forked during this call, which "
                        "goes on in the parent only");
      return false;
    }
    if (goesOn)
      continue;
    Unlocked unlocked;
    abandon(*work);
    return false;
  }
  if (work->thrown)
    std::rethrow_exception(work->thrown);
  return true;
}

std::optional<Result<std::monostate>> awaitCode(Kernels kernels) {
  if (areReady(kernels))
    return std::monostate();
  // A device's driver keeps what is current for each thread.
  if (std::ranges::any_of(kernels, [](const BoundKernel &kernel) {
        return kernel.device() != DeviceId{};
      })) {
    Unlocked unlocked;
    return make(kernels);
  }
  auto result = std::make_shared<Result<std::monostate>>(std::monostate());
  bool isHeard = awaitWork(
      [result, kernels = std::move(kernels)](std::stop_token stop) mutable {
        *result = make(kernels, std::move(stop));
      });
  if (!isHeard)
    return std::nullopt;
  return std::move(*result);
}

std::shared_ptr<CodeWaiter> makeCodeWaiter() {
  return std::make_shared<Waiter>();
}

} // namespace quern::python
