// `return`: values against declared results, or a reduction's states.
#include "frontend/check/Facts.h"
#include "frontend/check/Lists.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// A `return` under conditions depends on what they depend on.
const typed::Type *DeclarationChecker::underControl(const Type *type) {
  if (!type->isScalar() || controlAxes.empty())
    return type;
  return types.scalar(type->scalar, unite(type->axes, controlAxes), type->pack);
}

/// One returned value; for an optional result also `none`, and `x if const c
/// else none`, which comes back as `x` with an entry in `absences`.
bool DeclarationChecker::returnValue(const ast::Expr *expr, std::size_t number,
                                     ReturnedValues &returned) {
  bool mayBeNone = number < results.size() && results[number].isOptional;
  expr = mayBeNone ? ast::withoutParens(expr) : expr;
  if (mayBeNone && llvm::isa<ast::NoneExpr>(expr)) {
    returned.values.push_back(nullptr);
    return true;
  }
  const auto *choice = llvm::dyn_cast<ast::ConditionalExpr>(expr);
  auto isNone = [](const ast::Expr *side) {
    return llvm::isa<ast::NoneExpr>(ast::withoutParens(side));
  };
  bool isOpen = mayBeNone && choice && choice->isConst &&
                (isNone(choice->whenTrue) || isNone(choice->whenFalse));
  if (!isOpen) {
    returned.values.push_back(check(expr));
    return returned.values.back() && usable(returned.values.back());
  }
  const Expression *condition = constCondition(choice->condition);
  if (!condition)
    return false;
  if (const auto *known = llvm::dyn_cast<ConstantExpression>(condition))
    return returnValue(known->value.boolean ? choice->whenTrue
                                            : choice->whenFalse,
                       number, returned);
  bool whenTrue = isNone(choice->whenTrue);
  Facts facts;
  collectFacts(condition, !whenTrue, facts);
  const Expression *value =
      checkUnder(whenTrue ? choice->whenFalse : choice->whenTrue, facts);
  returned.values.push_back(value);
  returned.absences.push_back({number, condition, whenTrue});
  return value && usable(value);
}

bool DeclarationChecker::returnValues(const ast::ReturnStmt &stmt,
                                      ReturnedValues &returned) {
  llvm::SmallVector<llvm::StringRef, 4> own, given;
  for (const Result &result : results)
    if (!result.name.empty())
      own.push_back(result.name);
  Places places;
  const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(stmt.value);
  if (tuple && tuple->elements.size() != 1) {
    argumentNames.expect(tuple->elements);
    if (areAllNamed(tuple->elements))
      for (const ast::Argument &element : tuple->elements)
        given.push_back(element.name.text());
    bool succeeded = namesResults(stmt.value, given, own, places);
    for (auto [number, element] : llvm::enumerate(tuple->elements)) {
      std::size_t place = given.empty() ? number : places[number];
      succeeded &= returnValue(tuple->elements[place].value, number, returned);
    }
    return succeeded;
  }
  // With several results one value stands for all, and is a tuple.
  std::size_t number = results.size() == 1 ? 0 : results.size();
  if (!returnValue(stmt.value, number, returned))
    return false;
  const Expression *whole = returned.values.front();
  if (!whole || !whole->type->isTuple())
    return true;
  returned.values.clear();
  if (!namesResults(stmt.value, whole->type->names, own, places))
    return false;
  for (unsigned index = 0; index != whole->type->elements.size(); ++index)
    returned.values.push_back(
        elementOf(whole, places.empty() ? index : places[index]));
  return true;
}

/// What may be absent is returned under `if const`, one within the other.
const Statement *DeclarationChecker::returnUnder(Span span,
                                                 ReturnedValues &returned,
                                                 std::size_t number) {
  if (number == returned.absences.size()) {
    auto *node = makeStatement<ReturnStatement>(span);
    node->values = builder.list(returned.values);
    return node;
  }
  const Absence &absence = returned.absences[number];
  auto *node = makeStatement<IfStatement>(span);
  node->condition = absence.condition;
  node->isConst = true;
  auto branch = [&](bool holds) {
    const Expression *&value = returned.values[absence.result];
    const Expression *given = value;
    if (holds == absence.whenTrue)
      value = nullptr;
    const Statement *inner = returnUnder(span, returned, number + 1);
    value = given;
    return builder.list(llvm::ArrayRef(inner));
  };
  node->then = branch(true);
  node->otherwise = branch(false);
  return node;
}

void DeclarationChecker::returnStatement(const ast::ReturnStmt &stmt,
                                         StatementList &into) {
  if (declaration.reduction) {
    const Expression *value = stmt.value ? check(stmt.value) : nullptr;
    return returnPart(stmt, value, into);
  }
  if (!stmt.value) {
    if (!results.empty())
      report(stmt.span, diag::ReturnCount, 0, results.size());
    storeMutVariables(stmt.span, into);
    into.push_back(makeStatement<ReturnStatement>(stmt.span));
    return;
  }
  if (results.empty()) {
    if (!declaration.hasError)
      report(stmt.value->span, diag::ReturnMisplaced, keyword(declaration.kind))
          .hint(place == Place::Kernel
                    ? "threads write to `mut` parameters; `return` ends one"
                    : "");
    return;
  }
  ReturnedValues all;
  if (!returnValues(stmt, all))
    return;
  if (all.values.size() != results.size()) {
    report(stmt.value->span, diag::ReturnCount, all.values.size(),
           results.size())
        .label(results.front().span, "declared here");
    return;
  }
  for (auto [value, result] : llvm::zip(all.values, results)) {
    if (!value)
      continue;
    value = returned(value, result, stmt.span);
    if (!value)
      return;
  }
  constexpr std::size_t most = 8;
  if (all.absences.size() > most) {
    report(stmt.span, diag::TooMany, most, "results that may be `none`");
    return;
  }
  storeMutVariables(stmt.span, into);
  into.push_back(returnUnder(stmt.span, all, 0));
}

/// A result of type `T` takes an `acc(T)`: the store is where it becomes one.
const Expression *DeclarationChecker::stored(const Expression *value,
                                             ScalarType type) {
  if (!value || isWeak(value) || place != Place::Lifted ||
      sameType(value->scalar(), type))
    return coerce(value, type);
  bool isAccumulated = value->scalar().isAccumulator() ||
                       llvm::isa<ReduceExpression, ScanExpression>(value);
  if (!isAccumulated || value->scalar() != type.accumulator())
    return coerce(value, type);
  ElementMask rounded =
      check::maskOf(Constraint::Float) | check::maskOf(Constraint::Complex);
  if (!(maskOf(type) & ~rounded))
    return makeCast(value, type, value->span);
  llvm::StringRef written = module.text(value->span);
  report(value->span, diag::NarrowedStore, spell(value->scalar()), spell(type))
      .hint("write the cast: `" + spell(type) + "(" + source(value->span) +
            ")`")
      .fix(value->span, spell(type) + "(" + written + ")");
  return nullptr;
}

/// Checks one returned value against its declared result.
const Expression *DeclarationChecker::returned(const Expression *value,
                                               const Result &result,
                                               Span span) {
  bool isObject = place == Place::Host && (result.isTensor || result.isList);
  if (isObject && result.isList)
    return ListChecker(*this).as(value, result.element, result.text);
  if (isObject) {
    const Type &type = *value->type;
    bool fits = type.isTensor() && sameType(type.scalar, result.element);
    bool isNumber = type.isScalar() && result.dimensions.empty() &&
                    sameType(type.scalar, result.element);
    if (!fits)
      report(value->span, diag::TypeMismatch, source(value->span), spell(value),
             result.text)
          .label(result.span, "declared here")
          .hint(isNumber
                    ? "a number's type has no brackets: `" + spell(value) + "`"
                    : "");
    return fits ? value : nullptr;
  }
  value = stored(asScalar(value), result.element);
  if (!value)
    return nullptr;
  return fitsAxes(value, result.dimensions, result.span) ? value : nullptr;
}

/// A part of a reduction returns its states, or what `finish` yields.
void DeclarationChecker::returnPart(const ast::ReturnStmt &stmt,
                                    const Expression *value,
                                    StatementList &into) {
  if (!value)
    return;
  if (learnsReturn && !returnType) {
    value = settle(value);
    returnType = value ? value->type : nullptr;
    return;
  }
  if (!returnType)
    return;
  if (!returnType->isTuple()) {
    value = coerce(asScalar(value), returnType->scalar);
  } else if (!value->type->isTuple() ||
             value->type->elements.size() != returnType->elements.size()) {
    report(value->span, diag::StateCount,
           value->type->isTuple() ? value->type->elements.size() : 1,
           returnType->elements.size());
    return;
  } else {
    value = tupleAs(value, *returnType, stmt);
  }
  if (!value)
    return;
  auto *node = makeStatement<ReturnStatement>(stmt.span);
  node->values = builder.list(llvm::ArrayRef(value));
  into.push_back(node);
}

/// Coerces a returned tuple element by element; literals in a written one are
/// checked again, since reading the tuple settled them.
const Expression *DeclarationChecker::tupleAs(const Expression *value,
                                              const Type &type,
                                              const ast::ReturnStmt &stmt) {
  const ast::TupleExpr *written = writtenTuple(stmt.value);
  const auto *made = llvm::dyn_cast<TupleExpression>(value);
  Places places;
  if (!namesResults(stmt.value, value->type->names, type.names, places))
    return nullptr;
  bool isInOrder = llvm::is_sorted(places);
  if (!written || !made) {
    for (auto [number, wanted] : llvm::enumerate(type.elements)) {
      const Type *given =
          value->type->elements[isInOrder ? number : places[number]];
      if (sameType(given->scalar, wanted->scalar))
        continue;
      report(value->span, diag::TypeMismatch, source(value->span),
             spell(given->scalar), spell(wanted->scalar));
      return nullptr;
    }
    if (isInOrder)
      return value;
  }
  llvm::SmallVector<const Expression *, 4> elements;
  for (auto [number, wanted] : llvm::enumerate(type.elements)) {
    unsigned place = isInOrder ? number : places[number];
    const Expression *one = elementOf(value, place);
    if (written && llvm::isa<ConstantExpression>(one))
      one = check(written->elements[place].value);
    one = coerce(asScalar(one), wanted->scalar);
    if (!one)
      return nullptr;
    elements.push_back(one);
  }
  auto *node = make<TupleExpression>(value->span, &type);
  node->elements = builder.list(elements);
  return node;
}
