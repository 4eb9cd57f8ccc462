// Weak literals: they take the type that the text around them wants.
#include "frontend/check/Extents.h"

#include "frontend/typed/Arithmetic.h"
#include "frontend/typed/ConstantValue.h"

#include "llvm/Support/FormatVariadic.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

bool DeclarationChecker::isWeak(const Expression *value) const {
  return value->type == module.weakInteger || value->type == module.weakFloat;
}

bool DeclarationChecker::isWeakFloat(const Expression *value) const {
  return value->type == module.weakFloat;
}

const Expression *DeclarationChecker::weakConstant(Span span,
                                                   const Constant &value) {
  bool isFloat = value.kind == Constant::Kind::Float;
  auto *node = make<ConstantExpression>(span, isFloat ? module.weakFloat
                                                      : module.weakInteger);
  node->value = value;
  return node;
}

const Expression *DeclarationChecker::booleanConstant(Span span, bool value) {
  auto *node = make<ConstantExpression>(span, types.boolean());
  node->value = Constant::ofBoolean(value);
  return node;
}

const Expression *DeclarationChecker::integerConstant(Span span,
                                                      std::int64_t value) {
  auto *node = make<ConstantExpression>(span, types.integer());
  node->value = Constant::ofInteger(value);
  return node;
}

/// With a symbolic type only what can hold for none of its types is refused;
/// the value is converted when the type is known.
bool DeclarationChecker::literalFits(const ConstantExpression &literal,
                                     ScalarType type) {
  const Constant &value = literal.value;
  if (value.kind == Constant::Kind::Float) {
    ElementMask allowed =
        check::maskOf(Constraint::Float) | check::maskOf(Constraint::Complex);
    if (ElementMask bad = maskOf(type) & ~allowed) {
      auto report = this->report(literal.span, diag::FloatLiteralForInteger,
                                 source(literal.span), spell(type));
      if (!type.isConcrete())
        report.note("`" + spell(type) + "` may be `" +
                    llvm::StringRef(quern::spelling(firstElement(bad))) + "`");
      if (llvm::StringRef(source(literal.span)).ends_with("inf"))
        report.hint(("the bounds of a type are `lowest(" + spell(type) +
                     ")` and `highest(" + spell(type) + ")`"));
      return false;
    }
    return true;
  }
  ElementMask possible = maskOf(type);
  if (onlyElement(possible) == ElementType::Bool) {
    report(literal.span, diag::TypeMismatch, source(literal.span),
           "integer literal", "bool")
        .hint("write `true` or `false`");
    return false;
  }
  std::optional<ElementType> element = onlyElement(possible);
  if (!element || !admits(Constraint::Int, *element))
    return true;
  Constant held = convertLiteral(value, *element);
  bool isSame =
      held.integer == value.integer && held.isUnsigned == value.isUnsigned;
  if (!isSame)
    report(literal.span, diag::LiteralDoesNotFit, source(literal.span),
           spell(type));
  return isSame;
}

/// Gives a weak value the type; of others checks that it is theirs.
const Expression *DeclarationChecker::coerce(const Expression *value,
                                             ScalarType type) {
  if (!value)
    return nullptr;
  if (!isWeak(value)) {
    if (value->type->isScalar() && sameType(value->scalar(), type))
      return value;
    if (const Expression *converted = Extents(*this).as(value, type))
      return converted;
    auto report = this->report(value->span, diag::TypeMismatch,
                               source(value->span), spell(value), spell(type));
    auto isReal = [&](ScalarType any) {
      return !(maskOf(any) & ~check::maskOf(Constraint::Real));
    };
    if (value->type->isScalar() && isReal(value->scalar()) && isReal(type))
      report.hint("write a cast: `" + spell(type) + "(" + source(value->span) +
                  ")`");
    return nullptr;
  }
  if (const auto *literal = llvm::dyn_cast<ConstantExpression>(value)) {
    if (!literalFits(*literal, type))
      return nullptr;
    auto *node = make<ConstantExpression>(value->span, types.scalar(type));
    node->value =
        type.isConcrete() && !admits(Constraint::Complex, type.element())
            ? convertLiteral(literal->value, type.element())
            : literal->value;
    return node;
  }
  // A conditional between literals with a condition known only when running.
  const auto *select = llvm::cast<SelectExpression>(value);
  const Expression *left = coerce(select->left, type);
  const Expression *right = coerce(select->right, type);
  if (!left || !right)
    return nullptr;
  AxisList over = uniteAll({select->condition, left, right});
  auto *node = make<SelectExpression>(value->span, types.scalar(type, over));
  node->condition = select->condition;
  node->left = left;
  node->right = right;
  node->isConst = select->isConst;
  return node;
}

/// A value that nothing else gives a type.
const Expression *DeclarationChecker::settle(const Expression *value) {
  if (!value || !isWeak(value))
    return value;
  return coerce(value, isWeakFloat(value)
                           ? ScalarType::concrete(ElementType::F32)
                           : ScalarType::integer());
}

/// Replaces what depends on no parameter by its value.
const Expression *DeclarationChecker::fold(const Expression *value) {
  if (!value || llvm::isa<ConstantExpression>(value) ||
      !value->type->isScalar() || isWeak(value))
    return value;
  std::optional<Constant> known = evaluateConstant(*value, {});
  if (!known)
    return value;
  auto *node = make<ConstantExpression>(value->span, value->type);
  node->value = *known;
  return node;
}
