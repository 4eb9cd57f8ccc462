// Throws what the border to Python turns into an exception.
#include "backend-torch/run/Raise.h"

namespace quern {

void raise(const std::string &message) { throw std::runtime_error(message); }

void raiseLaunch(const Error &error, const std::string &place) {
  std::string message = error.message + "\nwhile running " + place;
  bool isIndex =
      !error.diagnostics.empty() && error.diagnostics.front().code == "QN2050";
  if (isIndex)
    throw IndexRangeError(message);
  raise(message);
}

void raiseStep(const std::string &place) {
  StepError error;
  error.cause = std::current_exception();
  error.place = place;
  throw error;
}

} // namespace quern
