// Extents, positions and scalars of a call next to floats: they take the float's
// type, as literals do. What is made of them is computed in 64 bits first, and
// converted once.
#include "frontend/check/Extents.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

static bool isCounting(BinaryOperator op) {
  return op == BinaryOperator::Add || op == BinaryOperator::Sub ||
         op == BinaryOperator::Mul || op == BinaryOperator::FloorDiv ||
         op == BinaryOperator::Mod;
}

static bool isCounting(Builtin builtin) {
  return builtin == Builtin::Index || builtin == Builtin::Size ||
         builtin == Builtin::Min || builtin == Builtin::Max ||
         builtin == Builtin::Abs;
}

/// A number that the caller gives, which a parameter of a `fn` need not be.
bool Extents::isOfCall(const Variable &variable) const {
  DeclarationKind kind = checker.declaration.kind;
  bool isCalledFromOutside =
      kind != DeclarationKind::Function && kind != DeclarationKind::Reduction;
  return isCalledFromOutside &&
         llvm::any_of(checker.parameters, [&](const Parameter &parameter) {
           return parameter.variable == &variable && !parameter.isTensor &&
                  !parameter.isMutable;
         });
}

bool Extents::contain(const Expression *value) const {
  bool isInteger = value && !checker.isWeak(value) && value->type->isScalar() &&
                   value->scalar() == ScalarType::integer();
  if (!isInteger)
    return false;
  auto all = [&](Expressions operands) {
    return llvm::all_of(
        operands, [&](const Expression *operand) { return contain(operand); });
  };
  if (const auto *named = llvm::dyn_cast<VariableExpression>(value))
    return checker.extentNames.contains(named->variable) ||
           isOfCall(*named->variable);
  if (const auto *builtin = llvm::dyn_cast<BuiltinExpression>(value))
    return isCounting(builtin->builtin) && all(builtin->operands);
  if (const auto *unary = llvm::dyn_cast<UnaryExpression>(value))
    return unary->op == UnaryOperator::Negate && contain(unary->operand);
  if (const auto *binary = llvm::dyn_cast<BinaryExpression>(value))
    return isCounting(binary->op) && all({binary->left, binary->right});
  if (const auto *given = llvm::dyn_cast<ConstantParameterExpression>(value))
    return !given->element;
  return llvm::isa<ConstantExpression, PackElementExpression>(value);
}

const Expression *Extents::as(const Expression *value, ScalarType type) const {
  ElementMask mask = checker.maskOf(type);
  ElementMask taken =
      check::maskOf(Constraint::Float) | check::maskOf(Constraint::Complex);
  if (!mask || (mask & ~taken) || !contain(value))
    return nullptr;
  bool isSmall = false;
  forEachElement(mask, [&](ElementType element) {
    isSmall |= computeTypeOf(element) != element;
  });
  // A bf16 has no 257: where values are held as small floats the text says so.
  if (isSmall && checker.place != Place::Lifted)
    return nullptr;
  return checker.makeCast(value, isSmall ? type.accumulator() : type,
                          value->span);
}

void Extents::note(const Variable &variable, const Expression *value) {
  if (contain(value))
    checker.extentNames.insert(&variable);
}

std::string Extents::hint(const Expression *value) const {
  if (!contain(value))
    return "";
  std::string type = "f32";
  for (auto [index, mask] : llvm::enumerate(checker.masks))
    if (!(mask & ~check::maskOf(Constraint::Float)))
      type = "acc(" + checker.typeParameters[index].name.str() + ")";
  return "give it a float type, for instance `" + type + "(" +
         checker.source(value->span) + ")`";
}

bool Extents::unify(const Expression *&left, const Expression *&right) const {
  if (const Expression *converted = as(left, right->scalar()))
    left = converted;
  else if (const Expression *converted = as(right, left->scalar()))
    right = converted;
  else
    return false;
  return true;
}

void Extents::inferTypes(const Declaration &callee,
                         const CallArguments &arguments,
                         GenericArguments &generics) {
  for (auto [value, parameter] : llvm::zip(arguments.values, callee.parameters))
    if (value && !contain(value))
      checker.inferFrom(parameter.element, value, generics);
  for (auto [value, parameter] : llvm::zip(arguments.values, callee.parameters))
    if (value && checker.isWeak(value) && parameter.element.isBareParameter()) {
      auto &type = generics.types[parameter.element.parameterIndex()];
      if (!type)
        type = checker.isWeakFloat(value)
                   ? ScalarType::concrete(ElementType::F32)
                   : ScalarType::integer();
    }
  for (auto [value, parameter] : llvm::zip(arguments.values, callee.parameters))
    if (value && contain(value))
      checker.inferFrom(parameter.element, value, generics);
}

bool Extents::refuseLiteral(const Expression *left, const Expression *right) {
  if (contain(left))
    std::swap(left, right);
  if (!checker.isWeakFloat(left) || !contain(right))
    return false;
  checker.hasFailed = true;
  if (!checker.bareAxes.contains(right))
    checker
        .report(left->span, diag::FloatLiteralForInteger,
                checker.source(left->span), checker.spell(right))
        .hint(hint(right));
  return true;
}

bool Extents::refuseDivision(Span span, const Expression *left,
                             const Expression *right) {
  ScalarType integer = ScalarType::integer();
  const Expression *extent = contain(right) ? right : left;
  bool areIntegers = contain(extent) && left->scalar() == integer &&
                     right->scalar() == integer &&
                     !llvm::isa<ConstantExpression>(extent);
  if (areIntegers)
    checker.report(span, diag::IntegerDivision, checker.spell(integer))
        .hint("`//` divides integers; for a float " + hint(extent));
  return areIntegers;
}

bool Extents::refuseOperand(const Expression *value, ElementMask allowed,
                            llvm::StringRef function) {
  if ((checker.maskOf(value->scalar()) & allowed) || !contain(value))
    return false;
  checker
      .report(value->span, diag::OperatorConstraint, function,
              checker.spell(value->scalar()))
      .hint(hint(value));
  return true;
}
