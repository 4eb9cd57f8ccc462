// One gate a process: open to those who take mutexes, closed during a fork.
#include "backend-torch/compiled/BriefMutex.h"

#include <pthread.h>

namespace quern {

namespace {
/// Threads pass it one beside the other, a fork alone. A fork that waits keeps
/// later threads back: it would never come to its turn otherwise.
pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void close() { pthread_rwlock_wrlock(&gate); }
void open() { pthread_rwlock_unlock(&gate); }
/// It still counts the parent's threads that wait before it.
void openInChild() { gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP; }
} // namespace

/// How many of these mutexes the thread holds. Only the first one passes the
/// gate: behind a waiting fork the second would wait for ever.
static thread_local int held = 0;

void BriefMutex::enter() {
  static const int registered = pthread_atfork(close, open, openInChild);
  (void)registered;
  if (held++ == 0)
    pthread_rwlock_rdlock(&gate);
}

void BriefMutex::leave() {
  if (--held == 0)
    open();
}

} // namespace quern
