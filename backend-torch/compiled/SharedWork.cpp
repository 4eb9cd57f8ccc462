// Threads, one for each processor, take pieces until none is left.
#include "backend-torch/compiled/SharedWork.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace quern {

namespace {
/// How often signals are checked. A stop should take at most 100 ms, and the
/// work needs a part of that to end.
constexpr std::chrono::milliseconds signalInterval(40);

class SharedWork {
public:
  SharedWork(std::size_t count, const Piece &piece)
      : count(count), piece(piece) {}

  /// Does pieces that no other thread has taken. An exception stops the others.
  void takeUp(const Progress &progress = {}) {
    try {
      for (std::size_t i = next++; i < count; i = next++, ++done) {
        if (stop.stop_requested())
          return;
        if (progress)
          progress(done, count);
        piece(i, stop.get_token());
      }
    } catch (...) {
      stop.request_stop();
      std::lock_guard guard(lock);
      if (!thrown)
        thrown = std::current_exception();
    }
  }

  /// False where the system has no thread.
  bool addThread() {
    try {
      threads.emplace_back([this] {
        takeUp();
        std::lock_guard guard(lock);
        ++ended;
        changed.notify_one();
      });
      return true;
    } catch (const std::system_error &) {
      return false;
    }
  }

  void listen(const Progress &progress) {
    try {
      while (!areEnded())
        progress(done, count);
    } catch (...) {
      stop.request_stop();
      threads.clear();
      throw;
    }
  }

  void finish() {
    threads.clear();
    if (thrown)
      std::rethrow_exception(thrown);
  }

  bool hasThreads() const { return !threads.empty(); }

private:
  bool areEnded() {
    std::unique_lock guard(lock);
    return changed.wait_for(guard, signalInterval,
                            [this] { return ended == threads.size(); });
  }

  const std::size_t count;
  const Piece &piece;
  std::atomic<std::size_t> next = 0, done = 0;
  std::stop_source stop;
  std::mutex lock; ///< of what follows
  std::condition_variable changed;
  std::size_t ended = 0;
  std::exception_ptr thrown;
  std::vector<std::jthread> threads; ///< end first
};
} // namespace

void forEach(std::size_t count, const Progress &progress, const Piece &piece) {
  if (count == 0)
    return;
  SharedWork work(count, piece);
  // The caller's thread counts where it need not listen.
  std::size_t wanted =
      std::min<std::size_t>(count, std::thread::hardware_concurrency());
  for (std::size_t i = progress ? 0 : 1; i < wanted; ++i)
    if (!work.addThread())
      break;
  if (progress && work.hasThreads())
    work.listen(progress);
  else
    work.takeUp(progress);
  work.finish();
  if (progress)
    progress(count, count);
}

} // namespace quern
