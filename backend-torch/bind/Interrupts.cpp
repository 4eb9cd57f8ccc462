// Asks Python for signals.
#include "backend-torch/bind/Interrupts.h"

#include <utility>

namespace quern {

static thread_local std::optional<pybind11::error_already_set> raised;

bool Interrupts::goesOn() {
  if (!isTime())
    return true;
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
