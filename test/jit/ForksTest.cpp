// What a forked child finds of the locks that its parent's threads take.
#include "jit/session/Forks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace quern::jit;

namespace {

/// Stands for a context, whose lock a thread takes when it ends.
std::mutex context;
std::atomic<bool> isEnding = false;

struct OfThread {
  ~OfThread() {
    std::lock_guard guard(context);
    isEnding = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
};

void useContext() {
  ThreadOfMlir use;
  static thread_local OfThread data;
  (void)data;
}

TEST(Forks, WaitForThreadsThatEnd) {
  ForkHandler handler([] {}, [](bool) {});
  std::thread thread(useContext);
  while (!isEnding)
    std::this_thread::yield();
  pid_t child = fork();
  if (child == 0)
    _exit(context.try_lock() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  thread.join();
}

TEST(Forks, TakeLocksAndGiveThemBack) {
  std::mutex lock;
  ForkHandler handler([&] { lock.lock(); }, [&](bool) { lock.unlock(); });
  pid_t child = fork();
  if (child == 0)
    _exit(lock.try_lock() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

} // namespace
