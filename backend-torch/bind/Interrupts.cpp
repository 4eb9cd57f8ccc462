// Asks Python for signals, ten times a second.
#include "backend-torch/bind/Interrupts.h"
#include "backend-torch/bind/TorchPython.h"

#include <chrono>

namespace quern {

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
  return PyErr_CheckSignals() == 0;
}

} // namespace quern
