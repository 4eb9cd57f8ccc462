// Python numbers as the language writes them.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

/// What ATen does with a number that an element type cannot hold. An operand
/// is a tensor to it: floats are rounded, integers wrap. A bound, a factor or a
/// value to fill with is refused when the call runs.
enum class NumberCheck : std::uint8_t { Rounds, MustFit };

/// By the name of the argument that the number is given for. A value that a
/// condition chooses is no operand.
NumberCheck checkOf(const Node &node, std::string_view argument);

/// A number in a place of this type, rounded to it as ATen does; nothing where
/// the type cannot hold it and must.
std::optional<std::string> literalOf(const GraphArgument &argument, DType type,
                                     NumberCheck check = NumberCheck::MustFit);

} // namespace quern
