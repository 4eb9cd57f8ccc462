// What the code of a kernel depends on besides its declaration; std only.
#pragma once

#include "frontend/ElementType.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace quern {

/// How an operand moves along one axis.
enum class StrideClass : std::uint8_t {
  Zero,   ///< the same element everywhere: broadcast
  One,    ///< neighbouring elements
  Dynamic ///< a stride read from the packet
};

/// One operand: a tensor parameter, then the outputs, in declaration order.
struct OperandLayout {
  bool present = true; ///< an absent optional has no words in the packet
  /// One entry per concrete axis of the operand, outermost first.
  std::vector<StrideClass> strides;
  bool operator==(const OperandLayout &) const = default;
};

/// A compile-time argument: an int, a bool, a string or the name of a `fn`, a
/// float; a `bool[n]` as a string of n digits `0` and `1`. Nothing: the `else`
/// of a parameter with choices.
using ConstantArgument =
    std::variant<std::int64_t, bool, std::string, double, std::monostate>;

/// Everything the compiler is told about a request, after the binder has
/// solved, broadcast and collapsed the axes (docs/decisions/0003).
struct Specialization {
  std::vector<ElementType> typeArguments;
  std::vector<ConstantArgument> constantArguments;
  /// For every declared axis, in the declaration's order, how many concrete
  /// axes it stands for: 1 for a plain axis, 0 and more for a pack.
  std::vector<std::uint8_t> axisRanks;
  std::vector<OperandLayout> operands;
  /// For every scalar, flat, whether it is an `int` that is one: steps of one
  /// need no products and no gathers. Empty: none is.
  std::vector<bool> unitScalars;
  /// For every list among the tensor parameters, how many tensors were given;
  /// `operands` holds them one by one.
  std::vector<std::uint16_t> listLengths;
  /// 32-bit offsets suffice for every operand.
  bool narrowOffsets = true;
  /// For a GPU: a launch serves calls of a list, each with a row of a table.
  bool listed = false;
  bool operator==(const Specialization &) const = default;
};

} // namespace quern
