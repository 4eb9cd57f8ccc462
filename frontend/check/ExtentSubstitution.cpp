// Clones host expressions with axes, parameters and constants replaced.
#include "frontend/check/ExtentSubstitution.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

const Expression *ExtentSubstitution::sizeOf(AxisId axis, Span span) {
  auto *node = builder.make<BuiltinExpression>(span, types.integer());
  node->builtin = Builtin::Size;
  node->axis = axis;
  return node;
}

/// The extent of a pack is the product of what it stands for.
const Expression *
ExtentSubstitution::size(const BuiltinExpression &expression) {
  const Expression *product = nullptr;
  for (AxisId axis : bound[expression.axis.index]) {
    const Expression *one = sizeOf(axis, expression.span);
    if (!product) {
      product = one;
      continue;
    }
    auto *node =
        builder.make<BinaryExpression>(expression.span, types.integer());
    node->op = BinaryOperator::Mul;
    node->left = product;
    node->right = one;
    product = node;
  }
  if (product)
    return product;
  auto *one =
      builder.make<ConstantExpression>(expression.span, types.integer());
  one->value = Constant::ofInteger(1);
  return one;
}

const Expression *
ExtentSubstitution::variable(const VariableExpression &expression,
                             std::size_t element) {
  for (auto [parameter, argument] : llvm::zip(callee.parameters, arguments)) {
    if (parameter.variable != expression.variable || !argument)
      continue;
    if (const auto *tuple = llvm::dyn_cast<TupleExpression>(argument))
      return tuple->elements[std::min(element, tuple->elements.size() - 1)];
    return argument;
  }
  return &expression;
}

const Expression *
ExtentSubstitution::builtin(const BuiltinExpression &expression,
                            std::size_t element) {
  if (expression.builtin == Builtin::Size)
    return size(expression);
  auto *node = copy(expression);
  node->operands = list(expression.operands, element);
  return node;
}

Expressions ExtentSubstitution::list(Expressions expressions,
                                     std::size_t element) {
  llvm::SmallVector<const Expression *, 4> applied;
  for (const Expression *one : expressions)
    applied.push_back(one ? apply(*one, element) : nullptr);
  return builder.list(applied);
}

const Expression *ExtentSubstitution::apply(const Expression &expression,
                                            std::size_t element) {
  if (const auto *one = llvm::dyn_cast<BuiltinExpression>(&expression))
    return builtin(*one, element);
  if (const auto *pack = llvm::dyn_cast<PackElementExpression>(&expression)) {
    llvm::ArrayRef<AxisId> axes = bound[pack->pack.index];
    return element < axes.size() ? sizeOf(axes[element], pack->span) : pack;
  }
  if (const auto *use = llvm::dyn_cast<VariableExpression>(&expression))
    return variable(*use, element);
  if (const auto *parameter =
          llvm::dyn_cast<ConstantParameterExpression>(&expression)) {
    const Expression *given = constants[parameter->parameter->index];
    return given ? given : parameter->parameter->defaultValue;
  }
  if (const auto *binary = llvm::dyn_cast<BinaryExpression>(&expression)) {
    auto *node = copy(*binary);
    node->type = types.scalar(binary->scalar());
    node->left = apply(*binary->left, element);
    node->right = apply(*binary->right, element);
    return node;
  }
  if (const auto *unary = llvm::dyn_cast<UnaryExpression>(&expression)) {
    auto *node = copy(*unary);
    node->operand = apply(*unary->operand, element);
    return node;
  }
  if (const auto *cast = llvm::dyn_cast<CastExpression>(&expression)) {
    auto *node = copy(*cast);
    node->operand = apply(*cast->operand, element);
    return node;
  }
  if (const auto *select = llvm::dyn_cast<SelectExpression>(&expression)) {
    auto *node = copy(*select);
    node->condition = apply(*select->condition, element);
    node->left = apply(*select->left, element);
    node->right = apply(*select->right, element);
    return node;
  }
  const auto *call = llvm::dyn_cast<CallExpression>(&expression);
  if (!call)
    return &expression;
  auto *node = copy(*call);
  node->arguments = list(call->arguments, element);
  return node;
}
