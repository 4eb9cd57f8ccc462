// Ends a graph's run when Python's user says so.
#pragma once

#include "jit/Jit.h"

namespace quern {

/// Answers Python's signals while a graph runs without the interpreter's lock.
/// Where a handler raises (Ctrl-C), that exception is left set.
class Interrupts : public CodeWaiter {
public:
  Result<std::monostate> wait(const std::vector<BoundKernel> &kernels) override;
  bool goesOn() override;
};

} // namespace quern
