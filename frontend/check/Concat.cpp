// `concat(xs over C)` and `concat(a, b over (A, B))`.
#include "frontend/check/Over.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// The operands, all of one element type, which comes back in `element`.
bool DeclarationChecker::concatOperands(
    const ast::CallExpr &expr,
    llvm::SmallVectorImpl<const Expression *> &operands, ScalarType &element) {
  for (const ast::Argument &argument : expr.arguments) {
    const Expression *value = check(argument.value);
    bool isList = value && value->type->isList() &&
                  value->type->elements.front()->isTensor();
    if (value && !isList)
      value = settle(asScalar(value));
    if (!value || !usable(value))
      return false;
    ScalarType own =
        isList ? value->type->elements.front()->scalar : value->scalar();
    if (!operands.empty() && !sameType(element, own)) {
      report(value->span, diag::TypeMismatch, source(value->span), spell(own),
             spell(element));
      return false;
    }
    element = operands.empty() ? own : joinTypes(element, own);
    operands.push_back(value);
  }
  if (operands.empty())
    report(expr.span, diag::TooFewArguments, "concat", 1, 0);
  return !operands.empty();
}

const Expression *DeclarationChecker::concatOver(const ast::CallExpr &expr,
                                                 const Over &over) {
  llvm::SmallVector<const Expression *, 4> operands;
  ScalarType element;
  if (!concatOperands(expr, operands, element))
    return nullptr;
  if (over.axes.size() != 1 && over.axes.size() != operands.size()) {
    report(expr.over->span, diag::ScanAxes, "concat", over.axes.size());
    return nullptr;
  }
  llvm::SmallVector<AxisId, 4> own;
  AxisList rest;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    AxisId axis = over.axes[over.axes.size() == 1 ? 0 : number];
    own.push_back(axis);
    if (!isOneAxis(expr.over->span, axis, "concat"))
      return nullptr;
    AxisList all = concatAxes(operand);
    if (!contains(all, axis)) {
      report(operand->span, diag::AxisNotInOperand, spell(axis));
      return nullptr;
    }
    rest = unite(rest, without(all, axis));
  }
  AxisId joined = joinedAxis(expr, operands, own);
  if (!joined.valid())
    return nullptr;
  // The joined axis stands where the first operand had its own.
  llvm::SmallVector<AxisId, 8> order;
  for (AxisId axis : concatAxes(operands.front()))
    order.push_back(axis == own.front() ? joined : axis);
  for (AxisId axis : rest)
    if (!llvm::is_contained(order, axis))
      order.push_back(axis);
  auto *node = make<ConcatExpression>(expr.span, types.scalar(element, order));
  node->operands = builder.list(operands);
  node->operandAxes = builder.list(own);
  node->axis = joined;
  return node;
}

AxisList DeclarationChecker::concatAxes(const Expression *operand) {
  if (!operand->type->isList())
    return operand->axes();
  AxisList all;
  for (const Dimension &dimension : operand->type->elements.front()->dimensions)
    all = unite(all, dimension.parts);
  return all;
}

/// The axis of the result, as long as all operands' together: the one that the
/// call names, `concat[E](a, b over (C, D))`; for a list alone the axis itself,
/// whose extents differ from element to element; else the only result axis with
/// an extent expression; else a new one.
AxisId DeclarationChecker::joinedAxis(const ast::CallExpr &expr,
                                      Expressions operands, AxisList own) {
  if (expr.brackets.size() == 1)
    if (const auto *name =
            llvm::dyn_cast<ast::NameExpr>(expr.brackets[0].value))
      return axisNamed(name->name());
  if (operands.size() == 1 && operands.front()->type->isList())
    return own.front();
  AxisId derived;
  unsigned count = 0;
  for (auto [number, axis] : llvm::enumerate(axes))
    if (axis.kind == AxisKind::Derived && ++count)
      derived.index = number;
  const Expression *sum = nullptr;
  for (AxisId part : own) {
    auto *size = make<BuiltinExpression>(expr.span, types.integer());
    size->builtin = Builtin::Size;
    size->axis = part;
    sum = sum ? makeBinary(BinaryOperator::Add, expr.span, expr.span, sum, size)
              : size;
  }
  if (count == 1) {
    extentChecks.push_back({derived, sum, expr.span});
    return derived;
  }
  Axis axis;
  axis.span = expr.span;
  axis.kind = AxisKind::Local;
  axis.name = builder.string((axes[own.front().index].name + "'").str());
  axis.lower = integerConstant(expr.span, 0);
  axis.upper = sum;
  return newAxis(axis, false);
}
