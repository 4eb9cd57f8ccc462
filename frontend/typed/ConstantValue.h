// Evaluates compile-time expressions once the parameters are known.
#pragma once

#include "frontend/typed/Declaration.h"

#include <functional>
#include <optional>
#include <string>

namespace quern::typed {

/// What compile-time expressions may ask. A function not given means that the
/// answer is not known yet.
struct ConstantEnvironment {
  llvm::ArrayRef<ElementType> typeArguments;
  /// Value of constant parameter `index`, element `element` of a `bool[n]`.
  std::function<std::optional<Constant>(unsigned index, unsigned element)>
      parameter;
  std::function<std::optional<bool>(const Variable &)> present;
  std::function<std::optional<std::int64_t>(TargetQuery, ElementType)> target;
};

/// Of a list of truth values, or a parameter `bool[n]` handed on: a digit, `0`
/// or `1`, for each.
std::optional<std::string>
evaluateTruthValues(const Expression &expression,
                    const ConstantEnvironment &environment);

/// Nothing when the expression depends on something that is not known.
std::optional<Constant>
evaluateConstant(const Expression &expression,
                 const ConstantEnvironment &environment);

/// The choice of `[P: {…}]` or `[P: match p {…}]` that is the same word as
/// `value`, or the same number in whatever type; nothing where none is.
std::optional<Constant> choiceOf(const ConstantParameter &parameter,
                                 const Constant &value);
/// Whether the parameter may have that value at all.
bool isAmong(const ConstantParameter &parameter, const Constant &value);

} // namespace quern::typed
