// Arithmetic of complex numbers, part by part as decision 0006 says.
#pragma once

#include "frontend/eval/Value.h"
#include "frontend/typed/Arithmetic.h"

namespace quern::eval {

Value complexBinary(typed::BinaryOperator op, const Value &a, const Value &b);

/// The length: the larger part times a square root that cannot overflow.
Value modulus(const Value &z);

} // namespace quern::eval
