// Whether two tensors share memory.
#pragma once

#include "jit/bind/Binding.h"

namespace quern::jit {

/// The bytes an operand reaches from its first element: [low, high).
struct ByteRange {
  std::int64_t low = 0, high = 0;
  bool isEmpty() const { return high <= low; }
};
ByteRange byteRange(const Operand &operand);

/// Two elements of the operand may share memory.
bool overlapsItself(const Operand &operand);

/// An element of `a` shares a byte with an element of `b`, whose first elements
/// are `distance` bytes apart (b's address less a's). Exact but for shapes too
/// intricate to decide quickly, which count as overlapping.
bool overlaps(const Operand &a, const Operand &b, std::int64_t distance);

/// Both walk the same memory in the same way.
bool sameLayout(const Operand &a, const Operand &b);

} // namespace quern::jit
