// How many rounds loops have, and which of them wait for whole rows.
#pragma once

#include "frontend/typed/Declaration.h"

#include <string>

namespace quern::typed {

/// How many rounds a loop over such a `range` has, or more than can be counted.
/// Behind the last one the counter may not fit its type any more.
std::int64_t roundsOf(std::int64_t lower, std::int64_t upper,
                      std::int64_t step);

/// Rounds of loops that wait for rows and are written out at most; each is a
/// launch or more.
inline constexpr std::int64_t mostWrittenRounds = 1024;

/// Something that asks for values of one round at other places, in a loop whose
/// rounds are not written out.
struct WaitingRound {
  const Expression *expression = nullptr; ///< or null: none
  const Statement *loop = nullptr;
  /// How many rounds there are, where the text says so.
  std::optional<std::int64_t> rounds = {};
};

/// The first one in the body of `declaration`.
WaitingRound waitingRound(const Declaration &declaration);
/// The first one in a loop, however many rounds it has.
WaitingRound waitingRound(const ForStatement &loop);
/// What is wrong with its rounds: too many, or nobody knows how many.
std::string kindOfRounds(const WaitingRound &found);

} // namespace quern::typed
