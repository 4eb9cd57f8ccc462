// What is known when the IR is made: parameters, presence, the target.
#include "dsl/gpu/Matrix.h"
#include "dsl/irgen/Generator.h"

#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::Constant;
using typed::ConstantParameterKind;

std::optional<bool> Generator::isPresent(const Variable &variable) {
  const Binding &binding = frame->binding(variable);
  if (binding.kind == Binding::Kind::Tensor)
    return true;
  if (binding.kind == Binding::Kind::Unset || binding.made.empty())
    return std::nullopt;
  return !binding.made.back().value.isAbsent();
}

std::optional<std::int64_t> Generator::ask(typed::TargetQuery query,
                                           ElementType type) {
  switch (query) {
  case typed::TargetQuery::IsGpu:
    return request.target.isGpu();
  case typed::TargetQuery::WarpSize:
    return request.target.warpSize();
  case typed::TargetQuery::RowLanes:
    return tileRowLanes(request.target);
  case typed::TargetQuery::VectorWidth:
    return request.target.vectorBytes / bytesOf(type);
  case typed::TargetQuery::HasMma:
    return hasMatrices(request.target, storageType(builder.getContext(), type));
  }
  llvm_unreachable("every query has its answer");
}

typed::ConstantEnvironment Generator::constantEnvironment() {
  typed::ConstantEnvironment environment;
  environment.typeArguments = frame->types;
  environment.parameter = [this](unsigned index,
                                 unsigned element) -> std::optional<Constant> {
    const ConstantBinding &binding = frame->constants[index];
    if (element < binding.digits.size())
      return Constant::ofBoolean(binding.digits[element] == '1');
    return binding.value;
  };
  environment.present = [this](const Variable &variable) {
    return isPresent(variable);
  };
  environment.target = [this](typed::TargetQuery query, ElementType type) {
    return ask(query, type);
  };
  return environment;
}

std::optional<Constant> Generator::known(const Expression &expression) {
  return typed::evaluateConstant(expression, constantEnvironment());
}

bool Generator::decide(const Expression &condition) {
  if (auto value = known(condition))
    return !value->isZero();
  unsupported(condition.span, "this condition is not known here");
  return false;
}

/// A value of the parameter's kind that equals none of its choices.
static Constant elseOf(const typed::ConstantParameter &parameter) {
  if (parameter.kind == ConstantParameterKind::Float)
    return Constant::ofFloat(std::numeric_limits<double>::quiet_NaN());
  if (parameter.kind == ConstantParameterKind::String)
    return Constant::ofString("else");
  return Constant::ofInteger(std::numeric_limits<std::int64_t>::min());
}

/// Of a complex number that is not real no number, which equals no choice.
std::optional<Constant> Generator::knownReal(const Expression &expression) {
  if (const auto *cast = dyn_cast<typed::CastExpression>(&expression))
    if (kindOf(frame->type(cast->scalar())) == ElementKind::Complex)
      return knownReal(*cast->operand);
  const auto *made = dyn_cast<typed::BuiltinExpression>(&expression);
  if (!made || made->builtin != typed::Builtin::MakeComplex)
    return known(expression);
  std::optional<Constant> real = known(*made->operands[0]);
  std::optional<Constant> imaginary = known(*made->operands[1]);
  if (!real || !imaginary || imaginary->isZero())
    return imaginary ? real : std::nullopt;
  return Constant::ofFloat(std::numeric_limits<double>::quiet_NaN());
}

/// `[P: match p {…}]` where `p` is known.
std::optional<Constant>
Generator::chosenBy(const Expression &subject,
                    const typed::ConstantParameter &parameter) {
  std::optional<Constant> value = knownReal(subject);
  if (!value)
    return std::nullopt;
  if (auto choice = typed::choiceOf(parameter, *value))
    return choice;
  if (!parameter.hasElse)
    complain(subject.span,
             "this is none of the values that `" + parameter.name +
                 "` can have",
             "QN2043");
  return elseOf(parameter);
}

ConstantBinding
Generator::fromSpecialization(const typed::ConstantParameter &parameter,
                              const ConstantArgument &argument) {
  ConstantBinding binding;
  if (std::holds_alternative<std::monostate>(argument))
    binding.value = elseOf(parameter);
  else if (const auto *integer = std::get_if<std::int64_t>(&argument))
    binding.value = parameter.kind == ConstantParameterKind::Float
                        ? Constant::ofFloat(static_cast<double>(*integer))
                        : Constant::ofInteger(*integer);
  else if (const auto *boolean = std::get_if<bool>(&argument))
    binding.value = Constant::ofBoolean(*boolean);
  else if (const auto *floating = std::get_if<double>(&argument))
    binding.value = Constant::ofFloat(*floating);
  else if (parameter.kind == ConstantParameterKind::Booleans)
    binding.digits = std::get<std::string>(argument);
  else if (parameter.kind == ConstantParameterKind::Function)
    binding.function =
        functionNamed(parameter, std::get<std::string>(argument));
  else
    binding.value = Constant::ofString(std::get<std::string>(argument));
  return binding;
}

ConstantBinding Generator::constantArgument(const Expression &argument) {
  ConstantBinding binding;
  if (const auto *reference =
          dyn_cast<typed::FunctionReferenceExpression>(&argument)) {
    binding.function = reference->function;
    return binding;
  }
  if (const auto *parameter =
          dyn_cast<typed::ConstantParameterExpression>(&argument))
    if (!parameter->element)
      return frame->constants[parameter->parameter->index];
  if (argument.type->isList())
    binding.digits = typed::evaluateTruthValues(argument, constantEnvironment())
                         .value_or("");
  else
    binding.value = known(argument);
  if (!binding.value && binding.digits.empty())
    unsupported(argument.span, "this compile-time argument is not known here");
  return binding;
}
