// PyTorch's rules of type promotion, for all operators at once.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

/// The type in which the operands of one type parameter meet; nothing where
/// the compiler does not know a type among them. Where a declaration says
/// nothing (an empty `kind`) a number takes the tensors' type; with `none`
/// tensors that differ do not meet.
std::optional<DType> promote(const Graph &graph,
                             const std::vector<const GraphArgument *> &operands,
                             std::string_view kind);

/// f8 as well.
bool isFloat(DType type);
bool isInteger(DType type);
bool isComplex(DType type);
/// Whether the language casts one type to the other: complex numbers do not
/// become real.
bool isCast(DType from, DType to);
/// Whether the compiler computes with values of this type.
bool isSupported(DType type);
/// Whether scalar code takes the bits of one type for a value of the other:
/// they are as wide and plain numbers.
bool isReinterpreted(DType from, DType to);

/// Whether a word is the constraint of a type parameter.
bool isConstraint(std::string_view word);
/// Whether `constraint` (`Any`, `Number`, `Int`, `Float`, …) admits `type`.
bool admits(std::string_view constraint, DType type);

/// `acc(T)`.
DType accumulatorOf(DType type);

} // namespace quern
