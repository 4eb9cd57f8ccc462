// Loops whose rounds wait for whole rows.
#pragma once

#include "frontend/typed/Declaration.h"

namespace quern::check {

/// Something that asks for values of one round at other places, in a loop whose
/// number of rounds is known only when running.
struct WaitingRound {
  const typed::Expression *expression = nullptr; ///< or null: none
  const typed::Statement *loop = nullptr;
};

/// The first one in the body of `declaration`.
WaitingRound waitingRound(const typed::Declaration &declaration);

} // namespace quern::check
