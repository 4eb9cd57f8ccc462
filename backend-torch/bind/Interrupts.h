// Ends a graph's run when Python's user says so.
#pragma once

#include "backend-torch/bind/TorchPython.h"
#include "jit/Jit.h"

#include <optional>

namespace quern {

/// Answers Python's signals while a graph runs without the interpreter's lock.
class Interrupts : public CodeWaiter {
public:
  bool goesOn() override;
  /// What a handler raised (Ctrl-C) in this thread, once. It is not left set
  /// meanwhile: tensors are freed first, and what watches them may be Python.
  static std::optional<pybind11::error_already_set> taken();
};

} // namespace quern
