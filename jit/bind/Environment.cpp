// Scalars, extents and compile-time arguments as host expressions see them.
#include "jit/bind/Environment.h"

#include "jit/bind/Numbers.h"

#include <cmath>

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

std::optional<HostValue>
SolutionEnvironment::evaluate(const Expression &expression, unsigned element,
                              std::string &problem) const {
  auto ofVariable = [this](const Variable &which, unsigned number) {
    return variable(which, number);
  };
  auto ofExtent = [this](AxisId axis, std::optional<unsigned> number) {
    return extent(axis, number);
  };
  auto ofConstant = [this](const ConstantParameter &parameter,
                           unsigned number) {
    return constant(parameter, number);
  };
  HostEnvironment environment{.variable = ofVariable,
                              .extent = ofExtent,
                              .constant = ofConstant,
                              .element = element,
                              .types = solution.types};
  return evaluateHost(expression, environment, problem);
}

/// A whole float for an integer is that integer.
static HostValue asTyped(HostValue value, ScalarType type) {
  bool isWhole = value.isFloat && !value.isComplex && takesIntegers(type) &&
                 value.floating == std::trunc(value.floating) &&
                 std::abs(value.floating) < 0x1p63;
  return isWhole ? HostValue::of(std::int64_t(value.floating)) : value;
}

std::optional<HostValue> SolutionEnvironment::variable(const Variable &wanted,
                                                       unsigned element) const {
  for (auto [parameter, argument] :
       llvm::zip_equal(request.declaration.parameters, request.arguments)) {
    if (parameter.variable != &wanted)
      continue;
    if (auto *list = std::get_if<std::vector<std::int64_t>>(&argument))
      return element < list->size()
                 ? std::optional(HostValue::of((*list)[element]))
                 : std::nullopt;
    if (auto *list = std::get_if<std::vector<double>>(&argument))
      return element < list->size()
                 ? std::optional(HostValue::of((*list)[element]))
                 : std::nullopt;
    if (auto value = hostValueOf(argument))
      return asTyped(*value, parameter.element);
    std::string problem;
    if (parameter.defaultValue)
      return evaluate(*parameter.defaultValue, element, problem);
  }
  return std::nullopt;
}

std::optional<std::int64_t>
SolutionEnvironment::extent(AxisId axis,
                            std::optional<unsigned> element) const {
  const AxisGroup &group = solution.axes[axis.index];
  if (!group.solved)
    return std::nullopt;
  if (element && request.declaration.axis(axis).pack)
    return *element < group.extents.size()
               ? std::optional(group.extents[*element])
               : std::nullopt;
  std::int64_t product = 1;
  for (std::int64_t extent : group.extents)
    product *= extent;
  return product;
}

std::optional<HostValue>
SolutionEnvironment::constant(const ConstantParameter &parameter,
                              unsigned element) const {
  if (parameter.index >= solution.constants.size())
    return std::nullopt;
  const ConstantArgument &argument = solution.constants[parameter.index];
  if (auto *integer = std::get_if<std::int64_t>(&argument))
    return HostValue::of(*integer);
  if (auto *boolean = std::get_if<bool>(&argument))
    return HostValue::of(static_cast<std::int64_t>(*boolean));
  if (auto *floating = std::get_if<double>(&argument))
    return HostValue::of(*floating);
  auto *digits = std::get_if<std::string>(&argument);
  if (digits && parameter.kind == ConstantParameterKind::Booleans &&
      element < digits->size())
    return HostValue::of(std::int64_t{(*digits)[element] == '1'});
  return std::nullopt;
}
