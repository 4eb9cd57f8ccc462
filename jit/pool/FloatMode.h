// How the processor rounds and whether it flushes small numbers, by thread.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace quern::jit {

/// The control bits of a thread's floating-point state: rounding, flushing of
/// denormals, and which exceptions trap. What has happened so far is no mode.
class FloatMode {
public:
  static FloatMode current() { return FloatMode(read() & control); }

  /// Gives this thread the mode.
  void set() const {
    if (std::uint64_t now = read(); (now & control) != bits)
      write((now & ~control) | bits);
  }

private:
  explicit FloatMode(std::uint64_t bits) : bits(bits) {}

#if defined(__x86_64__)
  static constexpr std::uint64_t control = 0xffc0;
  static std::uint64_t read() { return _mm_getcsr(); }
  static void write(std::uint64_t word) {
    _mm_setcsr(static_cast<unsigned>(word));
  }
#elif defined(__aarch64__)
  static constexpr std::uint64_t control = ~std::uint64_t(0);
  static std::uint64_t read() {
    std::uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(std::uint64_t word) {
    asm volatile("msr fpcr, %0" ::"r"(word));
  }
#else
  static constexpr std::uint64_t control = 0;
  static std::uint64_t read() { return 0; }
  static void write(std::uint64_t) {}
#endif

  std::uint64_t bits;
};

/// Gives a mode to a thread of somebody else's while this lives.
class BorrowedFloatMode {
public:
  explicit BorrowedFloatMode(FloatMode mode) { mode.set(); }
  ~BorrowedFloatMode() { before.set(); }
  BorrowedFloatMode(const BorrowedFloatMode &) = delete;
  BorrowedFloatMode &operator=(const BorrowedFloatMode &) = delete;

private:
  const FloatMode before = FloatMode::current();
};

} // namespace quern::jit
