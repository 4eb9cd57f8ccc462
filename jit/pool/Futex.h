// Sleeping on a word and waking those who sleep there (Linux futex).
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quern::jit {

/// Sleeps while `word` holds `value`, for no longer than `most` where it is
/// given; may return early.
inline void futexWait(std::atomic<std::uint32_t> &word, std::uint32_t value,
                      const timespec *most = nullptr) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, most, nullptr, 0);
}

inline void futexWake(std::atomic<std::uint32_t> &word, int sleepers) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, sleepers, nullptr, nullptr, 0);
}

/// Tells the core that this is a spin loop.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace quern::jit
