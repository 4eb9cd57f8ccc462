// What an expression is worth at one position: a scalar, a tuple, or a value
// per axis of a pack.
#pragma once

#include "frontend/ElementType.h"
#include "frontend/typed/Constant.h"

#include <cstdint>
#include <vector>

namespace quern::eval {

using typed::Constant;

/// Scalars keep their value in `real` (and `imaginary` for complex types),
/// rounded to `type`. A tuple or pack value has `elements` instead.
struct Value {
  ElementType type = ElementType::F32;
  Constant real;
  double imaginary = 0;
  bool isAggregate = false;
  bool isAbsent = false; ///< an optional operand that was not given
  std::vector<Value> elements;

  static Value of(ElementType type, Constant constant);
  static Value complex(ElementType type, double real, double imaginary);
  static Value integer(std::int64_t value) {
    return of(ElementType::I64, Constant::ofInteger(value));
  }
  static Value boolean(bool value) {
    return of(ElementType::Bool, Constant::ofBoolean(value));
  }
  static Value aggregate(std::vector<Value> elements);
  static Value absent();

  bool isComplex() const { return kindOf(type) == ElementKind::Complex; }
  bool truth() const { return !real.isZero(); }
  std::int64_t asInteger() const { return real.integer; }
  /// Any real scalar as f64.
  double asDouble() const;
};

/// A tensor in memory; strides count elements.
struct Tensor {
  ElementType type = ElementType::F32;
  void *data = nullptr;
  std::vector<std::int64_t> sizes, strides;
};

/// Reads and writes one element `offset` elements from the start.
Value readElement(const Tensor &tensor, std::int64_t offset);
void writeElement(const Tensor &tensor, std::int64_t offset,
                  const Value &value);

/// `value` as another element type, by the rules of a written cast.
Value cast(const Value &value, ElementType to);

} // namespace quern::eval
