// Classes of bytes, as one table.
#pragma once

#include <array>
#include <cstdint>

namespace quern::characters {

enum : std::uint8_t {
  nameStart = 1, ///< letters and `_`
  digit = 2,
  blank = 4, ///< space, tab, carriage return
  hexDigit = 8
};

consteval std::array<std::uint8_t, 256> makeClasses() {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned c = 0; c < 26; ++c)
    classes['a' + c] = classes['A' + c] = nameStart;
  classes['_'] = nameStart;
  for (unsigned c = 0; c < 6; ++c) {
    classes['a' + c] |= hexDigit;
    classes['A' + c] |= hexDigit;
  }
  for (unsigned c = '0'; c <= '9'; ++c)
    classes[c] = digit | hexDigit;
  classes[' '] = classes['\t'] = classes['\r'] = blank;
  return classes;
}

inline constexpr auto classes = makeClasses();

inline bool is(char c, std::uint8_t mask) {
  return classes[static_cast<unsigned char>(c)] & mask;
}

} // namespace quern::characters
