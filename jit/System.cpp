// What LLVM's package takes from the C library of 2022 and later, for systems
// that have an older one.
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

/// LLVM names temporary files with it. As part of what is linked it is not
/// asked of the system.
extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  // So few bytes come whole, unless a signal comes first.
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}
