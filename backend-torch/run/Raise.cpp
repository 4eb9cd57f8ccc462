// Throws what the border to Python turns into an exception.
#include "backend-torch/run/Raise.h"

#include <c10/util/Exception.h>

#include <stdexcept>

namespace quern {

void raise(const std::string &message) { throw std::runtime_error(message); }

void raiseLaunch(const Error &error, const std::string &place) {
  std::string message = error.message + "\nwhile running " + place;
  bool isIndex =
      !error.diagnostics.empty() && error.diagnostics.front().code == "QN2050";
  if (isIndex)
    C10_THROW_ERROR(IndexError, message);
  raise(message);
}

void raiseStep(const std::string &place) {
  StepError error;
  error.cause = std::current_exception();
  error.place = place;
  throw error;
}

} // namespace quern
