// Who is told of code that is loaded: `perf` and debuggers.
#pragma once

#include <string>
#include <vector>

namespace quern::jit {

/// Who wants to know.
struct Listeners {
  bool perfNames = false; ///< where functions lie, as a map
  bool perfLines = false; ///< code and lines, as a dump for `perf inject`
  bool debugger = false;  ///< code and lines, by the interface that gdb knows

  bool needLines() const { return perfLines || debugger; }
};

/// Appends where the functions of an object lie to `perf-PID.map`.
/// Functions whose size the object does not say are left out.
void addToPerfMap(const std::string &object,
                  const std::vector<std::string> &symbols,
                  const std::vector<void *> &addresses);

} // namespace quern::jit
