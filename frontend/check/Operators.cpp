// Unary and binary operators, comparisons and their types.
#include "frontend/check/Extents.h"
#include "frontend/check/Lists.h"

#include "frontend/typed/Arithmetic.h"
#include "frontend/typed/ConstantValue.h"

#include "llvm/Support/SaveAndRestore.h"

#include <cmath>

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

BinaryOperator check::typedOperator(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Or:
    return BinaryOperator::Or;
  case ast::BinaryOp::And:
    return BinaryOperator::And;
  case ast::BinaryOp::Less:
    return BinaryOperator::Less;
  case ast::BinaryOp::LessEqual:
    return BinaryOperator::LessEqual;
  case ast::BinaryOp::Greater:
    return BinaryOperator::Greater;
  case ast::BinaryOp::GreaterEqual:
    return BinaryOperator::GreaterEqual;
  case ast::BinaryOp::Equal:
    return BinaryOperator::Equal;
  case ast::BinaryOp::NotEqual:
    return BinaryOperator::NotEqual;
  case ast::BinaryOp::BitOr:
    return BinaryOperator::BitOr;
  case ast::BinaryOp::BitXor:
    return BinaryOperator::BitXor;
  case ast::BinaryOp::BitAnd:
    return BinaryOperator::BitAnd;
  case ast::BinaryOp::ShiftLeft:
    return BinaryOperator::ShiftLeft;
  case ast::BinaryOp::ShiftRight:
    return BinaryOperator::ShiftRight;
  case ast::BinaryOp::Add:
    return BinaryOperator::Add;
  case ast::BinaryOp::Subtract:
    return BinaryOperator::Sub;
  case ast::BinaryOp::Multiply:
    return BinaryOperator::Mul;
  case ast::BinaryOp::Divide:
    return BinaryOperator::Div;
  case ast::BinaryOp::FloorDivide:
    return BinaryOperator::FloorDiv;
  case ast::BinaryOp::Modulo:
    return BinaryOperator::Mod;
  }
  llvm_unreachable("all operators have a typed one");
}

/// Of `MODE == "c"` the side that the parameter on the other one, which lists
/// its values, never has.
static std::pair<const Expression *, const ConstantParameter *>
unlistedSide(const Expression *comparison) {
  const auto *binary = llvm::dyn_cast_if_present<BinaryExpression>(comparison);
  if (!binary || (binary->op != BinaryOperator::Equal &&
                  binary->op != BinaryOperator::NotEqual))
    return {};
  for (auto [one, other] : {std::pair(binary->left, binary->right),
                            std::pair(binary->right, binary->left)}) {
    const auto *named = llvm::dyn_cast<ConstantParameterExpression>(one);
    const auto *value = llvm::dyn_cast<ConstantExpression>(other);
    if (named && value && !isAmong(*named->parameter, value->value))
      return {value, named->parameter};
  }
  return {};
}

/// A long sum is a tree that leans left: walk down its spine, not the stack.
const Expression *DeclarationChecker::binaryChain(const ast::BinaryExpr &expr) {
  constexpr unsigned longest = 512;
  llvm::SmallVector<const ast::BinaryExpr *, 8> spine;
  const ast::Expr *first = &expr;
  while (const auto *binary = llvm::dyn_cast<ast::BinaryExpr>(first)) {
    spine.push_back(binary);
    first = binary->left;
    if (spine.size() > longest) {
      report(expr.span, diag::TooDeep, longest)
          .hint("name parts of it with `let`");
      return nullptr;
    }
  }
  const ast::BinaryExpr &innermost = *spine.back();
  const Expression *value = nullptr;
  if (const Expression *special = equalityOfTypes(innermost)) {
    value = special;
    spine.pop_back();
  } else {
    value = check(first);
  }
  for (const ast::BinaryExpr *binary : llvm::reverse(spine)) {
    bool divides = binary->op == ast::BinaryOp::Divide ||
                   binary->op == ast::BinaryOp::FloorDivide ||
                   binary->op == ast::BinaryOp::Modulo;
    llvm::SaveAndRestore use(axisUse, divides ? AxisUse::Extent : axisUse);
    const Expression *right = check(binary->right);
    value = makeBinary(typedOperator(binary->op), binary->span,
                       binary->operatorSpan, value, right);
    if (auto [side, parameter] = unlistedSide(value); side) {
      report(side->span, diag::NotAChoice, source(side->span), parameter->name)
          .label(parameter->span, "its values are listed here");
      value = nullptr;
    }
  }
  return value;
}

/// `T == f32`: null when neither side is a type.
const Expression *
DeclarationChecker::equalityOfTypes(const ast::BinaryExpr &expr) {
  bool isEqual = expr.op == ast::BinaryOp::Equal;
  if (!isEqual && expr.op != ast::BinaryOp::NotEqual)
    return nullptr;
  std::optional<ScalarType> left = typeNamed(expr.left);
  if (!left)
    return nullptr;
  std::optional<ScalarType> right = typeNamed(expr.right);
  if (!right)
    return nullptr;
  auto *test = make<TypeTestExpression>(expr.span, types.boolean());
  test->tested = *left;
  test->other = *right;
  const Expression *value = fold(test);
  return isEqual ? value
                 : fold(makeUnary(UnaryOperator::Not, value, expr.span));
}

const Expression *
DeclarationChecker::comparisonChain(const ast::ComparisonChainExpr &expr) {
  llvm::SmallVector<const Expression *, 4> operands;
  for (const ast::Expr *operand : expr.operands)
    operands.push_back(check(operand));
  const Expression *all = nullptr;
  for (auto [number, op] : llvm::enumerate(expr.operators)) {
    Span left = expr.operands[number]->span;
    const Expression *one = makeBinary(
        typedOperator(op), join(left, expr.operands[number + 1]->span), left,
        operands[number], operands[number + 1]);
    if (!one)
      return nullptr;
    all = all ? makeBinary(BinaryOperator::And, expr.span, expr.span, all, one)
              : one;
  }
  return all;
}

/// Proposes the cast that loses less: to floats, to the wider type. What goes
/// into the left of an assignment is cast to its type.
std::string DeclarationChecker::castHint(const Expression *to,
                                         const Expression *of, bool into) {
  auto rank = [&](const Expression *operand) {
    ElementMask mask = maskOf(operand->scalar());
    bool isFloat = !(mask & ~check::maskOf(Constraint::Float));
    bool isConcrete = operand->scalar().isConcrete();
    unsigned width = isConcrete ? bitsOf(operand->scalar().element()) : 0;
    return std::pair(isFloat, width);
  };
  // A `var` that begins with a literal can begin with another type.
  const auto *named = llvm::dyn_cast<VariableExpression>(to);
  const Binding *binding = named ? lookup(named->variable->name) : nullptr;
  bool becomesFloat = into && rank(of).first;
  if (binding && binding->alias &&
      (becomesFloat || rank(to).first == rank(of).first)) {
    std::string name = named->variable->name.str();
    return "`" + name + "` is `" + spell(to->scalar()) +
           "` by its first value; write `var " + name + " = " +
           spell(of->scalar()) + "(" + source(binding->alias->span) + ")`";
  }
  // What a caller chooses stays: a number meets `T` as a `T`.
  auto isChosen = [&](const Expression *operand) {
    return !operand->scalar().isConcrete() && rank(operand).first;
  };
  bool isBetter =
      isChosen(to) != isChosen(of) ? isChosen(of) : rank(to) < rank(of);
  if (!into && isBetter)
    std::swap(to, of);
  return "write a cast, for instance `" + spell(to->scalar()) + "(" +
         source(of->span) + ")`";
}

/// Gives two operands one type.
bool DeclarationChecker::unify(const Expression *&left,
                               const Expression *&right, Span span,
                               llvm::StringRef what) {
  if (isWeak(left) && isWeak(right)) {
    if (isWeakFloat(left) != isWeakFloat(right)) {
      const Expression *&other = isWeakFloat(left) ? right : left;
      const auto *literal = llvm::dyn_cast<ConstantExpression>(other);
      if (literal) {
        other = weakConstant(other->span,
                             convertLiteral(literal->value, ElementType::F64));
        return true;
      }
      ScalarType f32 = ScalarType::concrete(ElementType::F32);
      left = coerce(left, f32);
      right = coerce(right, f32);
    }
    return left && right;
  }
  if (Extents(*this).refuseLiteral(left, right))
    return false;
  if (isWeak(left))
    left = coerce(left, right->scalar());
  else if (isWeak(right))
    right = coerce(right, left->scalar());
  if (!left || !right)
    return false;
  if (sameType(left->scalar(), right->scalar()))
    return true;
  if (Extents(*this).unify(left, right))
    return true;
  if (bareAxes.contains(left) || bareAxes.contains(right)) {
    hasFailed = true;
    return false;
  }
  report(span, diag::OperandMismatch, what, spell(left->scalar()),
         spell(right->scalar()))
      .label(left->span, "`" + spell(left->scalar()) + "`")
      .label(right->span, "`" + spell(right->scalar()) + "`")
      .hint(castHint(left, right, span.begin <= left->span.begin));
  return false;
}

bool DeclarationChecker::operatorApplies(BinaryOperator op, ScalarType type,
                                         Span span) {
  bool isOrder = isComparison(op) && op != BinaryOperator::Equal &&
                 op != BinaryOperator::NotEqual;
  ElementMask allowed = check::maskOf(constraintOf(op));
  if (op == BinaryOperator::Div) {
    allowed =
        check::maskOf(Constraint::Float) | check::maskOf(Constraint::Complex);
    if (!(maskOf(type) & allowed)) {
      report(span, diag::IntegerDivision, spell(type))
          .hint("`//` divides integers");
      return false;
    }
  }
  if (isOrder)
    allowed &= ~check::maskOf(Constraint::Complex);
  return requireMask(type, allowed, span, spelling(op));
}

/// `*` and `+` skip an absent optional operand.
bool DeclarationChecker::skipAbsent(BinaryOperator op, const Expression *left,
                                    const Expression *right, bool &leftOptional,
                                    bool &rightOptional) {
  leftOptional = isAbsent(left);
  rightOptional = isAbsent(right);
  bool skips = op == BinaryOperator::Add || op == BinaryOperator::Mul;
  if (!skips)
    return usable(left) && usable(right);
  if (!leftOptional || !rightOptional)
    return true;
  report(left->span, diag::BothAbsent);
  return false;
}

static Constant foldWeak(BinaryOperator op, const Constant &left,
                         const Constant &right, bool isFloat, bool &fits) {
  if (isFloat || op == BinaryOperator::Div)
    return apply(op, convertLiteral(left, ElementType::F64),
                 convertLiteral(right, ElementType::F64), ElementType::F64);
  std::optional<Constant> exact =
      left.isUnsigned || right.isUnsigned
          ? std::optional(apply(op, left, right, ElementType::U64))
          : applyExactly(op, left.integer, right.integer);
  fits = exact.has_value();
  return exact.value_or(Constant());
}

/// Two literals: the operation is done now and stays weak. Null when it cannot
/// be, with a message if that is an error.
const Expression *DeclarationChecker::foldLiterals(BinaryOperator op, Span span,
                                                   const Expression *left,
                                                   const Expression *right) {
  const auto *a = llvm::dyn_cast<ConstantExpression>(left);
  const auto *b = llvm::dyn_cast<ConstantExpression>(right);
  bool isLogic = op == BinaryOperator::And || op == BinaryOperator::Or;
  bool isBitwise = op >= BinaryOperator::BitAnd && op < BinaryOperator::And;
  if (!a || !b || isLogic || (isBitwise && isWeakFloat(left)))
    return nullptr;
  bool fits = true;
  Constant value = foldWeak(op, a->value, b->value, isWeakFloat(left), fits);
  if (!fits) {
    report(span, diag::ConstantOverflow, spelling(op));
    return nullptr;
  }
  if (value.kind == Constant::Kind::Boolean)
    return booleanConstant(span, value.boolean);
  return weakConstant(span, value);
}

/// An integer divided by a 0 for all to see.
bool DeclarationChecker::dividesByZero(BinaryOperator op,
                                       const Expression *left,
                                       const Expression *right) {
  const auto *divisor = llvm::dyn_cast<ConstantExpression>(right);
  bool isDivision = op == BinaryOperator::FloorDiv || op == BinaryOperator::Mod;
  if (!isDivision || !divisor || !divisor->value.isZero() ||
      isWeakFloat(left) || isWeakFloat(right))
    return false;
  bool mayBeFloat = !isWeak(left) &&
                    (maskOf(left->scalar()) & check::maskOf(Constraint::Float));
  if (mayBeFloat)
    return false;
  report(right->span, diag::ConstantDivisionByZero);
  return true;
}

static bool isTensorList(const Expression *value) {
  return value->type->isList() && !value->type->elements.front()->isScalar();
}

const Expression *DeclarationChecker::makeBinary(BinaryOperator op, Span span,
                                                 Span at,
                                                 const Expression *left,
                                                 const Expression *right) {
  if (!left || !right)
    return nullptr;
  bool leftOptional = false, rightOptional = false;
  if (!skipAbsent(op, left, right, leftOptional, rightOptional))
    return nullptr;
  if (left->type->isString() && right->type->isString())
    return compareStrings(op, span, left, right);
  if (op == BinaryOperator::Add && (isTensorList(left) || isTensorList(right)))
    return ListChecker(*this).joined(span, left, right);
  left = asScalar(left, true);
  right = left ? asScalar(right, true) : nullptr; // one mistake, one error
  if (!right || !unify(left, right, at, spelling(op)) ||
      dividesByZero(op, left, right))
    return nullptr;
  if (isWeak(left) && isWeak(right)) {
    unsigned errors = hasFailed;
    hasFailed = false;
    const Expression *folded = foldLiterals(op, span, left, right);
    bool overflowed = hasFailed;
    hasFailed |= errors != 0;
    if (folded || overflowed)
      return folded;
    left = settle(left);
    right = left ? settle(right) : nullptr;
    if (!right)
      return nullptr; // a literal that no type holds
  }
  ScalarType type = joinTypes(left->scalar(), right->scalar());
  if (op == BinaryOperator::Div &&
      Extents(*this).refuseDivision(at, left, right))
    return nullptr;
  if (!operatorApplies(op, type, at))
    return nullptr;
  auto *node = make<BinaryExpression>(
      span, pointwise(isComparison(op) ? ScalarType::boolean() : type,
                      {left, right}));
  node->op = op;
  node->left = left;
  node->right = right;
  node->leftOptional = leftOptional;
  node->rightOptional = rightOptional;
  bool areConstants = llvm::isa<ConstantExpression>(left) &&
                      llvm::isa<ConstantExpression>(right);
  return areConstants ? fold(node) : node;
}

/// `MODE == "tanh"`.
const Expression *DeclarationChecker::compareStrings(BinaryOperator op,
                                                     Span span,
                                                     const Expression *left,
                                                     const Expression *right) {
  if (op != BinaryOperator::Equal && op != BinaryOperator::NotEqual) {
    report(span, diag::StringMisplaced);
    return nullptr;
  }
  auto *node = make<BinaryExpression>(span, types.boolean());
  node->op = op;
  node->left = left;
  node->right = right;
  return node;
}

const Expression *DeclarationChecker::unary(const ast::UnaryExpr &expr) {
  const Expression *operand = checkScalarOrAligned(expr.operand);
  if (!operand)
    return nullptr;
  switch (expr.op) {
  case ast::UnaryOp::Plus:
    return operand;
  case ast::UnaryOp::Negate:
    return makeUnary(UnaryOperator::Negate, operand, expr.span);
  case ast::UnaryOp::Not:
    return makeUnary(UnaryOperator::Not, operand, expr.span);
  case ast::UnaryOp::BitNot:
    return makeUnary(UnaryOperator::BitNot, operand, expr.span);
  }
  llvm_unreachable("all unary operators are checked");
}

const Expression *DeclarationChecker::makeUnary(UnaryOperator op,
                                                const Expression *operand,
                                                Span span) {
  if (!operand)
    return nullptr;
  const auto *literal = llvm::dyn_cast<ConstantExpression>(operand);
  if (isWeak(operand) && literal && op == UnaryOperator::Negate) {
    if (isWeakFloat(operand))
      return weakConstant(span, Constant::ofFloat(-literal->value.floating));
    auto raw = static_cast<std::uint64_t>(literal->value.integer);
    bool fits = !literal->value.isUnsigned || raw == 1ull << 63;
    if (fits)
      return weakConstant(
          span, Constant::ofInteger(static_cast<std::int64_t>(0 - raw)));
    report(span, diag::ConstantOverflow, "-");
    return nullptr;
  }
  operand = settle(operand);
  ElementMask allowed =
      check::maskOf(op == UnaryOperator::Negate ? Constraint::Number
                    : op == UnaryOperator::Not  ? Constraint::Bool
                                                : Constraint::Integral);
  if (!operand || !requireMask(operand->scalar(), allowed, span,
                               llvm::StringRef(spelling(op)).rtrim()))
    return nullptr;
  auto *node = make<UnaryExpression>(span, operand->type);
  node->op = op;
  node->operand = operand;
  return literal ? fold(node) : node;
}
