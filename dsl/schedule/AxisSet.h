// Sets of a kernel's axes, however many there are.
#pragma once

#include "llvm/ADT/ADL.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"

#include <cstdint>
#include <functional>

namespace quern {

/// A set of numbers, or what is left of all numbers without some.
class AxisSet {
public:
  AxisSet() = default;
  static AxisSet of(unsigned axis) {
    AxisSet set;
    set.words.resize(axis / bits + 1);
    set.words.back() = std::uint64_t(1) << axis % bits;
    return set;
  }
  static AxisSet all() { return ~AxisSet(); }
  /// The axes with lower numbers.
  static AxisSet below(unsigned axis) {
    AxisSet set;
    for (; axis >= bits; axis -= bits)
      set.words.push_back(~std::uint64_t(0));
    set.words.push_back((std::uint64_t(1) << axis) - 1);
    set.trim();
    return set;
  }

  bool has(unsigned axis) const { return word(axis / bits) >> axis % bits & 1; }
  explicit operator bool() const { return !words.empty() || rest; }
  unsigned count() const {
    unsigned sum = 0;
    for (std::uint64_t word : words)
      sum += llvm::popcount(word);
    return sum;
  }
  /// The axis with the highest number; there is one, and an end.
  unsigned last() const {
    return words.size() * bits - 1 - llvm::countl_zero(words.back());
  }
  /// The axis with the lowest number; there is one.
  unsigned first() const {
    unsigned index = 0;
    while (!word(index))
      ++index;
    return index * bits + llvm::countr_zero(word(index));
  }

  friend AxisSet operator&(const AxisSet &a, const AxisSet &b) {
    return combined(a, b, std::bit_and<>());
  }
  friend AxisSet operator|(const AxisSet &a, const AxisSet &b) {
    return combined(a, b, std::bit_or<>());
  }
  friend AxisSet operator^(const AxisSet &a, const AxisSet &b) {
    return combined(a, b, std::bit_xor<>());
  }
  AxisSet operator~() const {
    AxisSet set = *this;
    for (std::uint64_t &word : set.words)
      word = ~word;
    set.rest = !rest;
    return set;
  }
  AxisSet &operator&=(const AxisSet &other) { return *this = *this & other; }
  AxisSet &operator|=(const AxisSet &other) { return *this = *this | other; }
  bool operator==(const AxisSet &) const = default;

private:
  friend struct llvm::DenseMapInfo<AxisSet>;
  static constexpr unsigned bits = 64;

  std::uint64_t word(unsigned index) const {
    return index < words.size() ? words[index] : rest ? ~std::uint64_t(0) : 0;
  }
  template <typename Combine>
  static AxisSet combined(const AxisSet &a, const AxisSet &b, Combine combine) {
    AxisSet set;
    set.rest = combine(a.rest, b.rest);
    set.words.resize(std::max(a.words.size(), b.words.size()));
    for (unsigned index = 0; index < set.words.size(); ++index)
      set.words[index] = combine(a.word(index), b.word(index));
    set.trim();
    return set;
  }
  /// Equal sets have equal words.
  void trim() {
    while (!words.empty() && words.back() == (rest ? ~std::uint64_t(0) : 0))
      words.pop_back();
  }

  llvm::SmallVector<std::uint64_t, 1> words;
  bool rest = false; ///< whether it has all axes behind the words
};

inline AxisSet axisBit(unsigned axis) { return AxisSet::of(axis); }
inline bool hasAxis(const AxisSet &set, unsigned axis) { return set.has(axis); }

} // namespace quern

/// Words that no set ends with stand for keys that are none.
template <> struct llvm::DenseMapInfo<quern::AxisSet> {
  static quern::AxisSet getEmptyKey() { return zeros(1); }
  static quern::AxisSet getTombstoneKey() { return zeros(2); }
  static unsigned getHashValue(const quern::AxisSet &set) {
    return llvm::hash_combine(
        llvm::hash_combine_range(set.words.begin(), set.words.end()), set.rest);
  }
  static bool isEqual(const quern::AxisSet &a, const quern::AxisSet &b) {
    return a == b;
  }

private:
  static quern::AxisSet zeros(unsigned count) {
    quern::AxisSet set;
    set.words.resize(count);
    return set;
  }
};
