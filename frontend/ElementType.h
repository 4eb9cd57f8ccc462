// The closed set of element types and what is known of each; std only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace quern {

enum class ElementType : std::uint8_t {
#define QN_ELEMENT(enumerator, spelling, kind, bits, accumulator) enumerator,
#include "frontend/ElementType.def"
};

enum class ElementKind : std::uint8_t {
  Bool,
  Signed,
  Unsigned,
  Float,
  Complex
};

std::string_view spelling(ElementType type);
ElementKind kindOf(ElementType type);
/// Bits an element takes in memory.
unsigned bitsOf(ElementType type);
inline unsigned bytesOf(ElementType type) { return bitsOf(type) / 8; }
/// The type that `acc(T)` names.
ElementType accumulatorOf(ElementType type);
/// The type in which `elementwise` and `rowwise` bodies compute: small floats
/// widen to f32, all others stay.
ElementType computeTypeOf(ElementType type);
std::optional<ElementType> elementTypeNamed(std::string_view spelling);

} // namespace quern
