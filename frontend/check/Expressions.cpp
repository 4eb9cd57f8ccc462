// The checker's way through expressions, and what most of them need.
#include "frontend/check/Facts.h"
#include "frontend/check/Lists.h"

#include "llvm/ADT/ScopeExit.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

const Expression *DeclarationChecker::check(const ast::Expr *expr) {
  constexpr unsigned deepest = 512;
  if (module.diagnostics.isStopped()) {
    hasFailed = true;
    return nullptr;
  }
  if (depth == deepest) {
    report(expr->span, diag::TooDeep, deepest)
        .hint("name parts of it with `let`");
    return nullptr;
  }
  ++depth;
  const Expression *value = checkInner(expr);
  --depth;
  if (!value)
    hasFailed = true;
  return value;
}

/// Literals and names.
const Expression *DeclarationChecker::checkLeaf(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::Expr::Kind::Int:
    return weakConstant(expr->span, Constant::ofUnsigned(
                                        llvm::cast<ast::IntExpr>(expr)->value));
  case ast::Expr::Kind::Float:
    return weakConstant(
        expr->span, Constant::ofFloat(llvm::cast<ast::FloatExpr>(expr)->value));
  case ast::Expr::Kind::Bool:
    return booleanConstant(expr->span, llvm::cast<ast::BoolExpr>(expr)->value);
  case ast::Expr::Kind::String: {
    auto *node = make<ConstantExpression>(expr->span, types.stringType());
    node->value = Constant::ofString(llvm::cast<ast::StringExpr>(expr)->value);
    return node;
  }
  case ast::Expr::Kind::None:
    report(expr->span, diag::NoneMisplaced)
        .hint("whether `w` is there is asked with `if const present(w)`");
    return nullptr;
  case ast::Expr::Kind::List:
    return ListChecker(*this).value(*llvm::cast<ast::ListExpr>(expr));
  case ast::Expr::Kind::Extern:
    report(expr->span, diag::NotAValue, "ATen overload",
           llvm::cast<ast::ExternExpr>(expr)->overload);
    return nullptr;
  case ast::Expr::Kind::Name:
    return nameValue(llvm::cast<ast::NameExpr>(expr)->name());
  case ast::Expr::Kind::Pack:
    return packValue(*llvm::cast<ast::PackExpr>(expr));
  default:
    return nullptr;
  }
}

const Expression *DeclarationChecker::checkInner(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::Expr::Kind::Unary:
    return unary(*llvm::cast<ast::UnaryExpr>(expr));
  case ast::Expr::Kind::Binary:
    return binaryChain(*llvm::cast<ast::BinaryExpr>(expr));
  case ast::Expr::Kind::ComparisonChain:
    return comparisonChain(*llvm::cast<ast::ComparisonChainExpr>(expr));
  case ast::Expr::Kind::Conditional:
    return conditional(*llvm::cast<ast::ConditionalExpr>(expr));
  case ast::Expr::Kind::Call:
    return call(*llvm::cast<ast::CallExpr>(expr));
  case ast::Expr::Kind::Index:
    return index(*llvm::cast<ast::IndexExpr>(expr));
  case ast::Expr::Kind::Member:
    return memberValue(*llvm::cast<ast::MemberExpr>(expr));
  case ast::Expr::Kind::Tuple:
    return tuple(*llvm::cast<ast::TupleExpr>(expr));
  case ast::Expr::Kind::Paren:
    return check(llvm::cast<ast::ParenExpr>(expr)->inner);
  default:
    return checkLeaf(expr);
  }
}

static const VariableExpression *uncast(const Expression *value) {
  while (const auto *cast = llvm::dyn_cast<CastExpression>(value))
    value = cast->operand;
  return llvm::dyn_cast<VariableExpression>(value);
}

/// An optional operand, or a cast of it, that is not known to be present here.
bool DeclarationChecker::isAbsent(const Expression *value) const {
  const VariableExpression *name = uncast(value);
  const Variable *variable = name ? parameterOf(name->variable) : nullptr;
  return variable && variable->isOptional && !knownPresent.contains(variable);
}

bool DeclarationChecker::usable(const Expression *value) {
  if (!isAbsent(value))
    return true;
  llvm::StringRef name = uncast(value)->variable->name;
  report(value->span, diag::OptionalUse, name)
      .hint(("ask `if const present(" + name + ")` first").str());
  return false;
}

const Expression *DeclarationChecker::asScalar(const Expression *value,
                                               bool mayAlign) {
  if (!value)
    return nullptr;
  const Type &type = *value->type;
  // A name whose value was wrong in one place is not blamed in the next.
  auto blameOnce = [&] {
    const auto *name = llvm::dyn_cast<VariableExpression>(value);
    Binding *binding = name ? lookup(name->variable->name) : nullptr;
    bool isItsName = binding && binding->kind == Binding::Kind::Variable &&
                     binding->variable == name->variable;
    if (isItsName && !isSilent)
      binding->kind = Binding::Kind::Poison;
  };
  if (type.isTuple()) {
    report(value->span, diag::TupleAsScalar, type.elements.size());
    blameOnce();
    return nullptr;
  }
  if (type.isVoid()) {
    report(value->span, diag::NoValue, source(value->span));
    return nullptr;
  }
  if (type.isString()) {
    report(value->span, diag::StringMisplaced);
    blameOnce();
    return nullptr;
  }
  if (!type.isScalar()) {
    auto report = this->report(value->span, diag::NotAScalar, spell(value));
    if (declaration.kind == DeclarationKind::Op)
      report.hint("an `op` computes nothing itself: call an `elementwise` or "
                  "a `rowwise`; `host(…)` reads a tensor of one element");
    return nullptr;
  }
  if (type.pack.valid() && !mayAlign) {
    report(value->span, diag::PackAligned, axes[type.pack.index].name);
    return nullptr;
  }
  return value;
}

const Expression *DeclarationChecker::checkScalar(const ast::Expr *expr) {
  const Expression *value = asScalar(check(expr));
  return value && usable(value) ? value : nullptr;
}

const Expression *
DeclarationChecker::checkScalarOrAligned(const ast::Expr *expr) {
  const Expression *value = asScalar(check(expr), true);
  return value && usable(value) ? value : nullptr;
}

const Expression *DeclarationChecker::checkAs(const ast::Expr *expr,
                                              ScalarType type) {
  return coerce(checkScalar(expr), type);
}

const Expression *DeclarationChecker::checkInteger(const ast::Expr *expr) {
  return checkAs(expr, ScalarType::integer());
}

const Expression *DeclarationChecker::checkCondition(const ast::Expr *expr) {
  const Expression *value = checkScalar(expr);
  if (!value)
    return nullptr;
  if (!isWeak(value) && canonical(value->scalar()) == ScalarType::boolean())
    return value;
  report(value->span, diag::ConditionNotBool, spell(value))
      .hint("compare it, for instance with `!= 0`");
  return nullptr;
}

const Expression *
DeclarationChecker::conditional(const ast::ConditionalExpr &expr) {
  const Expression *condition = expr.isConst ? constCondition(expr.condition)
                                             : checkCondition(expr.condition);
  const auto *known = llvm::dyn_cast_if_present<ConstantExpression>(condition);
  if (expr.isConst && known)
    return check(known->value.boolean ? expr.whenTrue : expr.whenFalse);
  Facts yes, no;
  if (condition && expr.isConst) {
    collectFacts(condition, true, yes);
    collectFacts(condition, false, no);
  }
  const Expression *left = checkUnder(expr.whenTrue, yes);
  const Expression *right = checkUnder(expr.whenFalse, no);
  if (!condition || !left || !right)
    return nullptr;
  if (left->type->isTuple() && right->type->isTuple())
    return selectTuple(condition, left, right, expr.isConst);
  return select(condition, asScalar(left, true), asScalar(right, true),
                expr.isConst);
}

/// One of two values; null operands after an error.
const Expression *DeclarationChecker::select(const Expression *condition,
                                             const Expression *left,
                                             const Expression *right,
                                             bool isConst) {
  if (!left || !right)
    return nullptr;
  Span span = join(left->span, right->span);
  if (!unify(left, right, span, "if else"))
    return nullptr;
  const Type *type = isWeak(left)
                         ? left->type
                         : pointwise(joinTypes(left->scalar(), right->scalar()),
                                     {left, right, condition});
  if (!type)
    return nullptr;
  auto *node = make<SelectExpression>(span, type);
  node->condition = condition;
  node->left = left;
  node->right = right;
  node->isConst = isConst;
  return node;
}

/// Element `index` of a tuple, written out or not.
const Expression *DeclarationChecker::elementOf(const Expression *base,
                                                unsigned index) {
  if (const auto *written = llvm::dyn_cast<TupleExpression>(base))
    return written->elements[index];
  auto *node = make<FieldExpression>(base->span, base->type->elements[index]);
  node->base = base;
  node->index = index;
  return node;
}

/// `(a, b) if c else (d, e)` chooses element by element.
const Expression *DeclarationChecker::selectTuple(const Expression *condition,
                                                  const Expression *left,
                                                  const Expression *right,
                                                  bool isConst) {
  std::size_t count = left->type->elements.size();
  if (right->type->elements.size() != count) {
    report(right->span, diag::TupleLength, count, right->type->elements.size())
        .label(left->span, "the other value");
    return nullptr;
  }
  llvm::SmallVector<const Expression *, 4> elements;
  llvm::SmallVector<const Type *, 4> elementTypes;
  for (unsigned index = 0; index != count; ++index) {
    const Expression *one =
        select(condition, asScalar(elementOf(left, index), true),
               asScalar(elementOf(right, index), true), isConst);
    if (!one)
      return nullptr;
    elements.push_back(one);
    elementTypes.push_back(one->type);
  }
  Span span = join(left->span, right->span);
  bool areNamed = !left->type->names.empty() && !right->type->names.empty();
  if (areNamed && left->type->names != right->type->names) {
    report(right->span, diag::TupleNames).label(left->span, "the other value");
    return nullptr;
  }
  auto *node =
      make<TupleExpression>(span, types.tuple(elementTypes, left->type->names));
  node->elements = builder.list(elements);
  return node;
}

/// Values in one tuple, those of its own tuples counted: a few lines that each
/// hold the one above twice would have more than memory.
static constexpr std::uint64_t mostValues = 1024;

static std::uint64_t valuesOf(const Type &type) {
  if (!type.isTuple())
    return 1;
  std::uint64_t values = 0;
  for (const Type *element : type.elements)
    values += valuesOf(*element);
  return values;
}

const Expression *DeclarationChecker::tuple(const ast::TupleExpr &expr) {
  llvm::SmallVector<const Expression *, 4> elements;
  llvm::SmallVector<const Type *, 4> elementTypes;
  llvm::SmallVector<llvm::StringRef, 4> elementNames;
  argumentNames.expect(expr.elements);
  for (const ast::Argument &element : expr.elements) {
    const Expression *value = settle(check(element.value));
    if (!value)
      return nullptr;
    elements.push_back(value);
    elementTypes.push_back(value->type);
    if (element.name)
      elementNames.push_back(element.name.text());
  }
  std::uint64_t values = 0;
  for (const Type *type : elementTypes)
    values += valuesOf(*type);
  if (values > mostValues) {
    report(expr.span, diag::TooMany, mostValues, "values of a tuple");
    return nullptr;
  }
  if (elementNames.size() != elements.size())
    elementNames.clear();
  auto *node =
      make<TupleExpression>(expr.span, types.tuple(elementTypes, elementNames));
  node->elements = builder.list(elements);
  return node;
}

const Expression *DeclarationChecker::field(const Expression *base,
                                            const ast::Identifier &name,
                                            Span span) {
  llvm::ArrayRef<llvm::StringRef> fields = base->type->names;
  const auto *found = llvm::find(fields, name.text());
  if (found == fields.end()) {
    Suggestion suggestion(name.text());
    for (llvm::StringRef candidate : fields)
      suggestion.consider(candidate);
    std::string hint = suggestion.hint();
    if (hint.empty() && !fields.empty())
      hint = "its fields are `" + llvm::join(fields, "`, `") + "`";
    report(name.span, diag::UnknownField, name.text()).hint(hint);
    return nullptr;
  }
  unsigned number = found - fields.begin();
  auto *node = make<FieldExpression>(span, base->type->elements[number]);
  node->base = base;
  node->index = number;
  return node;
}
