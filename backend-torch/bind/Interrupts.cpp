// Asks Python for signals, ten times a second.
#include "backend-torch/bind/Interrupts.h"

#include <chrono>
#include <utility>

namespace quern {

static thread_local std::optional<pybind11::error_already_set> raised;

Result<std::monostate>
Interrupts::wait(const std::vector<BoundKernel> &kernels) {
  for (BoundKernel kernel : kernels)
    if (auto ready = kernel.ready(); !ready)
      return ready;
  return std::monostate();
}

bool Interrupts::goesOn() {
  static thread_local std::chrono::steady_clock::time_point last;
  auto now = std::chrono::steady_clock::now();
  if (now - last < std::chrono::milliseconds(100))
    return true;
  last = now;
  pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0)
    return true;
  raised.emplace();
  return false;
}

std::optional<pybind11::error_already_set> Interrupts::taken() {
  return std::exchange(raised, std::nullopt);
}

} // namespace quern
