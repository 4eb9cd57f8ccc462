// The one place of this room that throws.
#pragma once

#include "jit/Jit.h"

#include <exception>
#include <stdexcept>
#include <string>

namespace quern {

/// Reports an error that the caller of a compiled graph is to see.
[[noreturn]] void raise(const std::string &message);

/// An index out of range. Some of ATen's operators report it as an IndexError,
/// some as a RuntimeError; in Python it is both.
struct IndexRangeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reports a failed launch.
[[noreturn]] void raiseLaunch(const Error &error, const std::string &place);

/// What an operator of ATen threw, and which one it was.
struct StepError : std::exception {
  std::exception_ptr cause;
  std::string place;
  const char *what() const noexcept override { return place.c_str(); }
};

/// Throws the exception that is being handled as a StepError.
[[noreturn]] void raiseStep(const std::string &place);

} // namespace quern
