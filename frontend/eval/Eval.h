// Runs a checked declaration directly: one scalar at a time, by the letter of
// the specification. The reference that compiled code is compared with.
#pragma once

#include "frontend/eval/Value.h"
#include "frontend/typed/TypedModule.h"

#include <optional>
#include <string>
#include <variant>

namespace quern::eval {

/// Nothing (an absent optional), a tensor, or a host scalar.
using Argument = std::variant<std::monostate, Tensor, Constant>;
/// A value, or a `fn` for a function parameter.
using ConstantArgument = std::variant<Constant, const typed::Declaration *>;

/// A call of an `elementwise` or `rowwise` with all compile-time arguments.
struct Invocation {
  const typed::Declaration *declaration = nullptr;
  std::vector<ElementType> typeArguments;
  std::vector<ConstantArgument> constantArguments;
  std::vector<Argument> arguments;  ///< one per parameter
  std::vector<Tensor> results;      ///< written; one per result
  std::uint64_t steps = UINT64_MAX; ///< expressions evaluated at most
};

/// The shapes of the results for the given arguments, or why there are none.
std::variant<std::vector<std::vector<std::int64_t>>, std::string>
resultShapes(const Invocation &invocation);

/// Fills `results`, whose shapes must be those of `resultShapes`. Nothing on
/// success, else what went wrong.
std::optional<std::string> evaluate(const Invocation &invocation);

/// A call of a `fn` on the host. `int`s are exact there: where one overflows,
/// or an integer is divided by zero, the call fails.
struct FunctionCall {
  const typed::Declaration *function = nullptr;
  std::vector<ElementType> typeArguments;
  /// One per compile-time parameter that is no type; nothing: the default.
  std::vector<std::optional<ConstantArgument>> constantArguments;
  std::vector<Value> arguments;     ///< one per parameter; absent: the default
  std::uint64_t steps = UINT64_MAX; ///< expressions evaluated at most
};

/// What the `fn` returns, or why it does not.
std::variant<std::vector<Value>, std::string> call(const FunctionCall &call);

} // namespace quern::eval
