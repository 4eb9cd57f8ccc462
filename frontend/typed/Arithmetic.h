// The meaning of operators and casts on single values, as specified.
#pragma once

#include "frontend/typed/Constant.h"
#include "frontend/typed/Expression.h"

#include <optional>

namespace llvm {
struct fltSemantics;
}

namespace quern::typed {

/// The format of a float, of a complex number's parts.
const llvm::fltSemantics &floatSemantics(ElementType type);

/// The value as a float type, ties to even, as f64; types below f32 are reached
/// through f32.
double roundTo(double value, ElementType element);

/// `value` of type `from` as `to`: floats round to nearest even; a float to an
/// integer goes toward zero, saturates, and NaN gives 0; integers wrap; to bool
/// is "not zero".
Constant convert(const Constant &value, ElementType from, ElementType to);

/// A literal as a value of `to`: as `convert`, from i64, u64 or f64.
Constant convertLiteral(const Constant &value, ElementType to);

/// Not for complex types. Integers wrap; `//` and `%` of integers by zero give
/// 0 (docs/decisions/0006); a shift by the width or more, or by less
/// than 0, shifts everything out.
Constant apply(BinaryOperator op, const Constant &left, const Constant &right,
               ElementType element);
Constant apply(UnaryOperator op, const Constant &operand, ElementType element);

/// As `apply` on i64, but nothing where the exact result needs more bits.
std::optional<Constant> applyExactly(BinaryOperator op, std::int64_t left,
                                     std::int64_t right);

} // namespace quern::typed
