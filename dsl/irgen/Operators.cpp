// Operators of the language on scalars.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::BinaryOperator;

/// `and` and `or`: the right side reads under the left one's condition.
irgen::Value Generator::logical(const typed::BinaryExpression &expression) {
  Scalar left = scalar(*expression.left);
  bool isAnd = expression.op == BinaryOperator::And;
  conditions.push_back({left.value, !isAnd});
  Scalar right = scalar(*expression.right);
  conditions.pop_back();
  at(expression.span);
  return isAnd ? b.bitAnd(left, right) : b.bitOr(left, right);
}

irgen::Value Generator::visit(const typed::BinaryExpression &expression) {
  if (expression.op == BinaryOperator::And ||
      expression.op == BinaryOperator::Or)
    return isThreadText() ? logicalBranch(expression) : logical(expression);
  Value left = whole(evaluate(*expression.left));
  Value right = whole(evaluate(*expression.right));
  at(expression.span);
  if (left.isAbsent())
    return right;
  if (right.isAbsent())
    return left;
  if (!left.isScalar() || !right.isScalar())
    return unsupported(expression.span, "one value is expected here");
  Scalar l = left.scalar, r = right.scalar;
  if (!typed::isComparison(expression.op)) {
    ElementType type = frame->type(expression.scalar());
    l = coerce(l, type);
    r = coerce(r, type);
  } else if (l.type != r.type) {
    ElementType type =
        bitsOf(computeTypeOf(l.type)) >= bitsOf(computeTypeOf(r.type)) ? l.type
                                                                       : r.type;
    l = coerce(l, type);
    r = coerce(r, type);
  }
  return arithmetic(expression.op, l, r);
}

irgen::Value Generator::arithmetic(BinaryOperator op, Scalar l, Scalar r) {
  switch (op) {
  case BinaryOperator::Add:
    return b.add(l, r);
  case BinaryOperator::Sub:
    return b.subtract(l, r);
  case BinaryOperator::Mul:
    return b.multiply(l, r);
  case BinaryOperator::Div:
    return b.divide(l, r);
  case BinaryOperator::FloorDiv:
    return l.isFloat() ? floatFloorDivide(l, r) : b.floorDivide(l, r);
  case BinaryOperator::Mod:
    return l.isFloat() ? floatModulo(l, r) : b.floorModulo(l, r);
  case BinaryOperator::BitAnd:
  case BinaryOperator::And:
    return b.bitAnd(l, r);
  case BinaryOperator::BitOr:
  case BinaryOperator::Or:
    return b.bitOr(l, r);
  case BinaryOperator::BitXor:
    return b.bitXor(l, r);
  case BinaryOperator::ShiftLeft:
    return b.shiftLeft(l, r);
  case BinaryOperator::ShiftRight:
    return b.shiftRight(l, r);
  case BinaryOperator::Equal:
    return b.equal(l, r);
  case BinaryOperator::NotEqual:
    return b.notEqual(l, r);
  case BinaryOperator::Less:
    return b.less(l, r);
  case BinaryOperator::LessEqual:
    return b.lessEqual(l, r);
  case BinaryOperator::Greater:
    return b.greater(l, r);
  case BinaryOperator::GreaterEqual:
    return b.greaterEqual(l, r);
  }
  llvm_unreachable("every operator has its operation");
}

irgen::Value Generator::visit(const typed::UnaryExpression &expression) {
  Scalar operand = scalar(*expression.operand);
  at(expression.span);
  if (expression.op == typed::UnaryOperator::Negate)
    return b.negate(operand);
  return b.bitNot(operand);
}

irgen::Value Generator::visit(const typed::SelectExpression &expression) {
  if (expression.isConst)
    return evaluate(decide(*expression.condition) ? *expression.left
                                                  : *expression.right);
  Scalar condition = scalar(*expression.condition);
  auto arm = [&](const Expression *side) {
    return [this, side, &expression]() -> Values {
      return {coerce(whole(evaluate(*side)), *expression.type)};
    };
  };
  auto whenTrue = arm(expression.left), whenFalse = arm(expression.right);
  at(expression.span);
  return branch(condition, whenTrue, whenFalse).front();
}
