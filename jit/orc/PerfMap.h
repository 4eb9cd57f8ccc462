// The names of loaded code for `perf`: a line for each function in the file
// that it looks for.
#pragma once

#include <string>
#include <vector>

namespace quern::jit {

/// Appends where the functions of an object lie to `perf-PID.map`.
/// Functions whose size the object does not say are left out.
void addToPerfMap(const std::string &object,
                  const std::vector<std::string> &symbols,
                  const std::vector<void *> &addresses);

} // namespace quern::jit
