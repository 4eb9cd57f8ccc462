// Throws what the border to Python turns into an exception.
#include "backend-torch/run/Raise.h"

#include <stdexcept>

namespace quern {

void raise(const std::string &message) { throw std::runtime_error(message); }

} // namespace quern
