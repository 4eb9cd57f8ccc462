// The two sides of the comparison: the evaluator, and compiled code.
#pragma once

#include "test/fuzz/kernels/Memory.h"

#include <memory>

namespace quern::fuzz {

/// What a program gave: results (then what `mut` operands became), or an error.
struct Outcome {
  std::vector<Memory> results;
  std::string error;
  bool isRejected = false; ///< the text or the call was refused
};

class Oracle {
public:
  Oracle();
  ~Oracle();
  Outcome run(const Program &program);

private:
  struct State;
  std::unique_ptr<State> state;
};

class Compiled {
public:
  Compiled();
  ~Compiled();
  Outcome run(const Program &program);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace quern::fuzz
