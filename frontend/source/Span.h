// A half-open range of source text in the offset space all files share.
#pragma once

#include <cstdint>

namespace quern {

/// Offsets begin at 1, so that the default span means "no place".
struct Span {
  std::uint32_t begin = 0, end = 0;

  bool valid() const { return begin != 0; }
  std::uint32_t size() const { return end - begin; }
  bool operator==(const Span &) const = default;
};

/// The smallest span that holds both; an invalid one does not count.
inline Span join(Span a, Span b) {
  if (!a.valid())
    return b;
  if (!b.valid())
    return a;
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

} // namespace quern
