// A read-write lock for the whole process, which forks take for writing.
#include "backend-torch/compiled/BriefMutex.h"

#include <pthread.h>

namespace quern {

namespace {
/// Threads that take a mutex hold it for reading, a fork for writing. A waiting
/// fork has priority over later readers; otherwise it might wait for ever.
pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void closeGate() { pthread_rwlock_wrlock(&gate); }
void openGate() { pthread_rwlock_unlock(&gate); }
/// The child's copy still counts threads of the parent that wait for it.
void resetGate() { gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP; }
} // namespace

/// How many of these mutexes the thread holds. It takes the gate only with the
/// first one: with a fork waiting, a second acquisition would deadlock.
static thread_local int held = 0;

void BriefMutex::enter() {
  static const int registered = pthread_atfork(closeGate, openGate, resetGate);
  (void)registered;
  if (held++ == 0)
    pthread_rwlock_rdlock(&gate);
}

void BriefMutex::leave() {
  if (--held == 0)
    openGate();
}

} // namespace quern
