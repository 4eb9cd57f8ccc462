// Folds compile-time expressions bottom up.
#include "frontend/typed/ConstantValue.h"

#include "frontend/typed/Arithmetic.h"
#include "frontend/typed/TypeValues.h"

using namespace quern;
using namespace quern::typed;

namespace {
class Evaluator {
public:
  explicit Evaluator(const ConstantEnvironment &environment)
      : environment(environment) {}

  using Found = std::optional<Constant>;
  Found evaluate(const Expression &expression);

private:
  std::optional<ElementType> element(ScalarType type) const {
    if (type.isConcrete())
      return type.element();
    if (type.parameterIndex() >= environment.typeArguments.size())
      return std::nullopt;
    return type.substitute(environment.typeArguments);
  }
  Found constant(const ConstantExpression &expression);
  Found parameter(const ConstantParameterExpression &expression);
  Found typeTest(const TypeTestExpression &expression);
  Found target(const TargetExpression &expression);
  Found binary(const BinaryExpression &expression);
  Found builtin(const BuiltinExpression &expression);

  const ConstantEnvironment &environment;
};
} // namespace

Evaluator::Found Evaluator::constant(const ConstantExpression &expression) {
  if (expression.value.kind == Constant::Kind::String ||
      !expression.type->isScalar())
    return expression.value;
  std::optional<ElementType> type = element(expression.scalar());
  if (!type)
    return std::nullopt;
  return convertLiteral(expression.value, *type);
}

Evaluator::Found
Evaluator::parameter(const ConstantParameterExpression &expression) {
  if (!environment.parameter)
    return std::nullopt;
  unsigned number = 0;
  if (expression.element) {
    Found index = evaluate(*expression.element);
    if (!index)
      return std::nullopt;
    number = static_cast<unsigned>(index->integer);
  }
  return environment.parameter(expression.parameter->index, number);
}

Evaluator::Found Evaluator::typeTest(const TypeTestExpression &expression) {
  std::optional<ElementType> tested = element(expression.tested);
  if (!tested)
    return std::nullopt;
  if (expression.againstConstraint)
    return Constant::ofBoolean(admits(expression.constraint, *tested));
  std::optional<ElementType> other = element(expression.other);
  if (!other)
    return std::nullopt;
  return Constant::ofBoolean(*tested == *other);
}

Evaluator::Found Evaluator::target(const TargetExpression &expression) {
  if (!environment.target)
    return std::nullopt;
  std::optional<ElementType> type = element(expression.argument);
  std::optional<std::int64_t> value =
      environment.target(expression.query, type.value_or(ElementType::F32));
  if (!value)
    return std::nullopt;
  if (expression.scalar() == ScalarType::boolean())
    return Constant::ofBoolean(*value != 0);
  return Constant::ofInteger(*value);
}

/// `and` and `or` are known as soon as one side decides.
Evaluator::Found Evaluator::binary(const BinaryExpression &expression) {
  Found left = evaluate(*expression.left), right = evaluate(*expression.right);
  bool isAnd = expression.op == BinaryOperator::And;
  if (isAnd || expression.op == BinaryOperator::Or)
    for (const Found &side : {left, right})
      if (side && side->boolean != isAnd)
        return side;
  if (!left || !right)
    return std::nullopt;
  if (left->kind == Constant::Kind::String)
    return apply(expression.op, *left, *right, ElementType::I64);
  std::optional<ElementType> type = element(expression.left->scalar());
  if (!type || kindOf(*type) == ElementKind::Complex)
    return std::nullopt;
  return apply(expression.op, *left, *right, *type);
}

Evaluator::Found Evaluator::builtin(const BuiltinExpression &expression) {
  if (builtinInfo(expression.builtin).group == BuiltinGroup::TypeValue) {
    std::optional<ElementType> type = element(expression.typeArgument);
    return type ? Found(typeValue(expression.builtin, *type)) : std::nullopt;
  }
  bool isMin = expression.builtin == Builtin::Min;
  if (!isMin && expression.builtin != Builtin::Max)
    return std::nullopt;
  Found left = evaluate(*expression.operands[0]);
  Found right = evaluate(*expression.operands[1]);
  std::optional<ElementType> type = element(expression.scalar());
  if (!left || !right || !type || kindOf(*type) == ElementKind::Float)
    return std::nullopt;
  Constant less = apply(BinaryOperator::Less, *left, *right, *type);
  return less.boolean == isMin ? left : right;
}

Evaluator::Found Evaluator::evaluate(const Expression &expression) {
  switch (expression.kind) {
  case ExpressionKind::Constant:
    return constant(llvm::cast<ConstantExpression>(expression));
  case ExpressionKind::ConstantParameter:
    return parameter(llvm::cast<ConstantParameterExpression>(expression));
  case ExpressionKind::TypeTest:
    return typeTest(llvm::cast<TypeTestExpression>(expression));
  case ExpressionKind::Target:
    return target(llvm::cast<TargetExpression>(expression));
  case ExpressionKind::Present: {
    if (!environment.present)
      return std::nullopt;
    std::optional<bool> known = environment.present(
        *llvm::cast<PresentExpression>(expression).variable);
    return known ? Found(Constant::ofBoolean(*known)) : std::nullopt;
  }
  case ExpressionKind::Unary: {
    const auto &unary = llvm::cast<UnaryExpression>(expression);
    Found operand = evaluate(*unary.operand);
    std::optional<ElementType> type = element(unary.operand->scalar());
    if (!operand || !type || kindOf(*type) == ElementKind::Complex)
      return std::nullopt;
    return apply(unary.op, *operand, *type);
  }
  case ExpressionKind::Binary:
    return binary(llvm::cast<BinaryExpression>(expression));
  case ExpressionKind::Select: {
    const auto &select = llvm::cast<SelectExpression>(expression);
    Found condition = evaluate(*select.condition);
    if (!condition)
      return std::nullopt;
    return evaluate(condition->boolean ? *select.left : *select.right);
  }
  case ExpressionKind::Cast: {
    const auto &cast = llvm::cast<CastExpression>(expression);
    Found operand = evaluate(*cast.operand);
    std::optional<ElementType> from = element(cast.operand->scalar());
    std::optional<ElementType> to = element(cast.scalar());
    if (!operand || !from || !to || kindOf(*to) == ElementKind::Complex)
      return std::nullopt;
    return convert(*operand, *from, *to);
  }
  case ExpressionKind::Builtin:
    return builtin(llvm::cast<BuiltinExpression>(expression));
  default:
    return std::nullopt;
  }
}

std::optional<Constant>
typed::evaluateConstant(const Expression &expression,
                        const ConstantEnvironment &environment) {
  return Evaluator(environment).evaluate(expression);
}

std::optional<std::string>
typed::evaluateTruthValues(const Expression &expression,
                           const ConstantEnvironment &environment) {
  std::string digits;
  auto add = [&](std::optional<Constant> value) {
    if (value)
      digits += value->boolean ? '1' : '0';
    return value.has_value();
  };
  if (const auto *list = llvm::dyn_cast<TupleExpression>(&expression)) {
    for (const Expression *element : list->elements)
      if (!add(evaluateConstant(*element, environment)))
        return std::nullopt;
    return digits;
  }
  const auto *given = llvm::dyn_cast<ConstantParameterExpression>(&expression);
  if (!given || !environment.parameter)
    return std::nullopt;
  unsigned count = static_cast<unsigned>(given->parameter->count);
  for (unsigned element = 0; element < count; ++element)
    if (!add(environment.parameter(given->parameter->index, element)))
      return std::nullopt;
  return digits;
}

std::optional<Constant> typed::choiceOf(const ConstantParameter &parameter,
                                        const Constant &value) {
  using Kind = Constant::Kind;
  for (const Constant &choice : parameter.choices) {
    bool isFloat = choice.kind == Kind::Float || value.kind == Kind::Float;
    if (apply(BinaryOperator::Equal, choice, value,
              isFloat ? ElementType::F64 : ElementType::I64)
            .boolean)
      return choice;
  }
  return std::nullopt;
}

bool typed::isAmong(const ConstantParameter &parameter, const Constant &value) {
  return parameter.choices.empty() || parameter.hasElse ||
         choiceOf(parameter, value).has_value();
}
