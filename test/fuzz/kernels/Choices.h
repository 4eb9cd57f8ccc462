// The source of every decision of a generated program: random numbers that are
// remembered, so that a program can be made again from a shorter tape.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace quern::fuzz {

/// Draws from a seed, or replays a tape; behind its end every choice is 0, and
/// 0 is always the plainest alternative.
class Choices {
public:
  explicit Choices(std::uint64_t seed) : engine(seed), isRandom(true) {}
  explicit Choices(std::vector<std::uint32_t> replayed)
      : given(std::move(replayed)) {}

  /// A number in 0 … count - 1.
  unsigned below(unsigned count) {
    std::uint32_t choice = 0;
    if (isRandom)
      choice = static_cast<std::uint32_t>(engine() % std::max(1u, count));
    else if (taken.size() < given.size())
      choice = std::min(given[taken.size()], std::max(1u, count) - 1);
    taken.push_back(choice);
    return choice;
  }
  /// True in one of `rounds` cases.
  bool oneIn(unsigned rounds) { return below(rounds) + 1 == rounds; }
  template <typename T> const T &pick(const std::vector<T> &values) {
    return values[below(static_cast<unsigned>(values.size()))];
  }
  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<unsigned>(values.size()))];
  }
  const std::vector<std::uint32_t> &tape() const { return taken; }

private:
  std::mt19937_64 engine;
  bool isRandom = false;
  std::vector<std::uint32_t> given, taken;
};

} // namespace quern::fuzz
