// Runs compile-time expressions that call `fn`s.
#pragma once

#include "frontend/Budget.h"
#include "frontend/typed/Declaration.h"

#include <optional>
#include <string>

namespace quern::eval {

/// The value of `expression`, which stands in `owner`, in the element type of
/// its type; nothing, with the reason in `problem`, where it takes more than is
/// left of `budget` or has none.
std::optional<typed::Constant>
constantValue(const typed::Expression &expression,
              const typed::Declaration &owner, Budget &budget,
              std::string &problem);

} // namespace quern::eval
