// A piece of text with its type, its axes, and how large its values are.
#pragma once

#include "test/fuzz/kernels/Program.h"

#include <limits>

namespace quern::fuzz {

inline constexpr double unknown = std::numeric_limits<double>::infinity();

/// Axes are bits by their number.
using AxisBits = unsigned;

struct Term {
  std::string text;
  ElementType type = ElementType::F32; ///< in which it computes
  AxisBits axes = 0;
  /// The values are integers of at most this magnitude; `unknown` else.
  double bound = unknown;
  bool isName = false; ///< `x.at` applies to it
};

/// Integers up to this one are exact in the type.
inline double exactLimit(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return 1 << 24;
  case ElementType::C64:
    return 1 << 24;
  case ElementType::C128:
  case ElementType::F64:
    return 9e15;
  case ElementType::F16:
    return 2048;
  case ElementType::BF16:
    return 256;
  default:
    break;
  }
  if (kindOf(type) == ElementKind::Float)
    return 8;
  if (type == ElementType::Bool)
    return 1;
  double limit = 1;
  for (unsigned i = 1; i < bitsOf(type); ++i)
    limit *= 2;
  return limit - 1;
}

inline Term bounded(Term term) {
  if (term.bound > exactLimit(term.type))
    term.bound = unknown;
  return term;
}

inline bool isComplex(ElementType type) {
  return kindOf(type) == ElementKind::Complex;
}
inline bool isFloat(ElementType type) {
  return kindOf(type) == ElementKind::Float;
}
inline bool isInteger(ElementType type) {
  return kindOf(type) == ElementKind::Signed ||
         kindOf(type) == ElementKind::Unsigned;
}
inline std::string nameOf(ElementType type) {
  return std::string(spelling(type));
}

} // namespace quern::fuzz
