// A mutex that no thread holds while the process forks.
#pragma once

#include <mutex>

namespace quern {

/// For data that is read or changed within microseconds. A forked child has the
/// memory of its parent, but not the threads that held locks of it: forks
/// therefore wait until no such mutex is held or waited for, whichever objects
/// they belong to. A thread that holds one takes no lock of a session, which
/// the forking thread may have taken before, and does not fork.
class BriefMutex {
public:
  void lock() {
    enter();
    mutex.lock();
  }
  void unlock() {
    mutex.unlock();
    leave();
  }

private:
  static void enter();
  static void leave();

  std::mutex mutex;
};

} // namespace quern
