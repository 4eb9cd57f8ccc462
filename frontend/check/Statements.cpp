// Statements that every kind of text has: let, var, return, calls.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

typed::Block DeclarationChecker::block(const ast::Block &text) {
  constexpr unsigned deepest = 256;
  if (nesting == deepest) {
    report(text.span, diag::TooDeep, deepest);
    return {};
  }
  ++nesting;
  std::size_t mark = openScope();
  auto oldMasks = masks;
  auto oldPresent = knownPresent, oldAbsent = knownAbsent;
  llvm::SmallVector<const Statement *, 8> statements;
  bool wasConst = false;
  for (const ast::Stmt *stmt : text.statements) {
    if (!statements.empty() && !fallsThrough(statements) && !hasFailed) {
      // Behind an `if const` that was decided the rest is for other parameters.
      if (wasConst)
        break;
      report(stmt->span, diag::Unreachable)
          .label(statements.back()->span, "nothing goes on behind this");
      break;
    }
    statement(*stmt, statements);
    const auto *branch = llvm::dyn_cast<ast::IfStmt>(stmt);
    wasConst = branch && branch->isConst;
  }
  masks = std::move(oldMasks);
  knownPresent = std::move(oldPresent);
  knownAbsent = std::move(oldAbsent);
  closeScope(mark);
  --nesting;
  return builder.list(statements);
}

void DeclarationChecker::statement(const ast::Stmt &stmt, StatementList &into) {
  switch (stmt.kind) {
  case ast::Stmt::Kind::Let:
    return let(llvm::cast<ast::LetStmt>(stmt), into);
  case ast::Stmt::Kind::Var:
    return variable(llvm::cast<ast::VarStmt>(stmt), into);
  case ast::Stmt::Kind::Assign:
    return assign(llvm::cast<ast::AssignStmt>(stmt), into);
  case ast::Stmt::Kind::If:
    return ifStatement(llvm::cast<ast::IfStmt>(stmt), into);
  case ast::Stmt::Kind::For:
    return forStatement(llvm::cast<ast::ForStmt>(stmt), into);
  case ast::Stmt::Kind::While:
    return whileStatement(llvm::cast<ast::WhileStmt>(stmt), into);
  case ast::Stmt::Kind::Return:
    return returnStatement(llvm::cast<ast::ReturnStmt>(stmt), into);
  case ast::Stmt::Kind::Each:
    return each(llvm::cast<ast::EachStmt>(stmt), into);
  case ast::Stmt::Kind::Launch:
    return launch(llvm::cast<ast::LaunchStmt>(stmt), into);
  case ast::Stmt::Kind::Storage:
    return storage(llvm::cast<ast::StorageStmt>(stmt), into);
  case ast::Stmt::Kind::Expression:
    return evaluate(llvm::cast<ast::ExpressionStmt>(stmt), into);
  case ast::Stmt::Kind::Pass:
    return;
  case ast::Stmt::Kind::Error:
    hasFailed = true;
    return;
  }
}

void DeclarationChecker::misplaced(Span span, llvm::StringRef what) {
  report(span, diag::StatementMisplaced, what, keyword(declaration.kind));
}

const Variable *DeclarationChecker::patternVariable(const ast::Identifier &name,
                                                    const Type *type,
                                                    VariableKind kind) {
  if (name.text == "_")
    return nullptr;
  return newVariable(name.text, name.span, kind, type);
}

void DeclarationChecker::let(const ast::LetStmt &stmt, StatementList &into) {
  const Expression *value = check(stmt.value);
  if (value && !usable(value))
    value = nullptr;
  if (value && stmt.type) {
    std::optional<ScalarType> type = scalarType(stmt.type);
    value = type ? coerce(asScalar(value, true), *type) : nullptr;
  }
  if (value && value->type->isVoid()) {
    report(value->span, diag::NoValue, source(value->span));
    value = nullptr;
  }
  if (value && isWeak(value) && llvm::isa<ConstantExpression>(value) &&
      !stmt.pattern.isTuple) {
    // Literals stay weak under a name.
    Binding binding;
    binding.kind = Binding::Kind::Alias;
    binding.span = stmt.pattern.names[0].span;
    binding.alias = value;
    define(stmt.pattern.names[0].text, binding);
    return;
  }
  bindPattern(stmt.pattern, settle(value), stmt.span, into);
}

void DeclarationChecker::bindPattern(const ast::Pattern &pattern,
                                     const Expression *value, Span span,
                                     StatementList &into) {
  bool isShort = value && pattern.isTuple && !value->type->isTuple();
  bool differs = value && pattern.isTuple && value->type->isTuple() &&
                 value->type->elements.size() != pattern.names.size();
  if (isShort)
    report(value->span, diag::NotATuple, pattern.names.size());
  if (differs)
    report(pattern.span, diag::TupleLength, pattern.names.size(),
           value->type->elements.size())
        .label(value->span,
               "this yields " + llvm::Twine(value->type->elements.size()));
  if (!value || isShort || differs) {
    hasFailed = true;
    for (const ast::Identifier &name : pattern.names)
      define(name.text, Binding{});
    return;
  }
  auto *node = makeStatement<LetStatement>(span);
  node->value = value;
  node->isTuple = pattern.isTuple;
  llvm::SmallVector<const Variable *, 4> variables;
  for (auto [number, name] : llvm::enumerate(pattern.names))
    variables.push_back(patternVariable(
        name, pattern.isTuple ? value->type->elements[number] : value->type,
        VariableKind::Let));
  node->variables = builder.list(variables);
  into.push_back(node);
}

void DeclarationChecker::variable(const ast::VarStmt &stmt,
                                  StatementList &into) {
  const Expression *value = check(stmt.value);
  if (value && !usable(value))
    value = nullptr;
  if (value && stmt.type) {
    std::optional<ScalarType> type = scalarType(stmt.type);
    value = type ? coerce(asScalar(value), *type) : nullptr;
  }
  value = settle(value);
  if (value && place != Place::Host)
    value = asScalar(value);
  if (!value) {
    hasFailed = true;
    define(stmt.name.text, Binding{});
    return;
  }
  const Type *type = value->type;
  if (type->isScalar()) {
    AxisList all = unite(type->axes, widened[stmt.name.span.begin]);
    type = types.scalar(stmt.type ? value->scalar() : type->scalar, all,
                        type->pack);
  }
  auto *node = makeStatement<LetStatement>(stmt.span);
  node->value = value;
  const Variable *made = patternVariable(stmt.name, type, VariableKind::Var);
  node->variables = builder.list(llvm::ArrayRef(made));
  into.push_back(node);
}

/// A `return` under conditions depends on what they depend on.
const typed::Type *DeclarationChecker::underControl(const Type *type) {
  if (!type->isScalar() || controlAxes.empty())
    return type;
  return types.scalar(type->scalar, unite(type->axes, controlAxes), type->pack);
}

bool DeclarationChecker::returnValues(
    const ast::ReturnStmt &stmt,
    llvm::SmallVectorImpl<const Expression *> &values) {
  const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(stmt.value);
  auto checkOne = [&](const ast::Expr *expr, bool mayBeNone) {
    if (mayBeNone && llvm::isa<ast::NoneExpr>(expr)) {
      values.push_back(nullptr);
      return true;
    }
    values.push_back(check(expr));
    return values.back() && usable(values.back());
  };
  if (tuple && tuple->elements.size() != 1) {
    bool succeeded = true;
    for (auto [number, element] : llvm::enumerate(tuple->elements)) {
      bool mayBeNone = number < results.size() && results[number].isOptional;
      succeeded &= checkOne(element.value, mayBeNone);
    }
    return succeeded;
  }
  if (!checkOne(stmt.value, results.size() == 1 && results[0].isOptional))
    return false;
  const Expression *whole = values.front();
  if (!whole || !whole->type->isTuple())
    return true;
  values.clear();
  for (auto [number, type] : llvm::enumerate(whole->type->elements)) {
    auto *part = make<FieldExpression>(whole->span, type);
    part->base = whole;
    part->index = number;
    values.push_back(part);
  }
  return true;
}

void DeclarationChecker::returnStatement(const ast::ReturnStmt &stmt,
                                         StatementList &into) {
  if (declaration.reduction) {
    const Expression *value = stmt.value ? check(stmt.value) : nullptr;
    return returnPart(stmt, value, into);
  }
  auto *node = makeStatement<ReturnStatement>(stmt.span);
  if (!stmt.value) {
    if (!results.empty())
      report(stmt.span, diag::ReturnCount, 0, results.size());
    into.push_back(node);
    return;
  }
  if (results.empty()) {
    if (!declaration.hasError)
      report(stmt.value->span, diag::ReturnMisplaced,
             keyword(declaration.kind));
    return;
  }
  llvm::SmallVector<const Expression *, 4> values;
  if (!returnValues(stmt, values))
    return;
  if (values.size() != results.size()) {
    report(stmt.value->span, diag::ReturnCount, values.size(), results.size())
        .label(results.front().span, "declared here");
    return;
  }
  for (auto [value, result] : llvm::zip(values, results)) {
    if (!value)
      continue;
    value = returned(value, result, stmt.span);
    if (!value)
      return;
  }
  node->values = builder.list(values);
  into.push_back(node);
}

/// A result of type `T` takes an `acc(T)`: the store is where it becomes one.
const Expression *DeclarationChecker::stored(const Expression *value,
                                             ScalarType type) {
  if (!value || isWeak(value) || place != Place::Lifted ||
      sameType(value->scalar(), type))
    return coerce(value, type);
  bool isAccumulated = value->scalar().isAccumulator() ||
                       llvm::isa<ReduceExpression, ScanExpression>(value);
  if (isAccumulated && value->scalar() == type.accumulator())
    return makeCast(value, type, value->span);
  return coerce(value, type);
}

/// Checks one returned value against its declared result.
const Expression *DeclarationChecker::returned(const Expression *value,
                                               const Result &result,
                                               Span span) {
  bool isObject = place == Place::Host && (result.isTensor || result.isList);
  if (isObject) {
    const Type &type = *value->type;
    const Type *element =
        type.isList() && result.isList ? type.elements.front() : value->type;
    bool fits = (type.isTensor() || (type.isList() && result.isList)) &&
                sameType(element->scalar, result.element);
    if (!fits)
      report(value->span, diag::TypeMismatch, source(value->span), spell(value),
             result.text)
          .label(result.span, "declared here");
    return fits ? value : nullptr;
  }
  value = stored(asScalar(value), result.element);
  if (!value)
    return nullptr;
  AxisList declared;
  for (const Dimension &dimension : result.dimensions)
    declared = unite(declared, dimension.parts);
  for (AxisId axis : underControl(value->type)->axes) {
    if (contains(declared, axis))
      continue;
    report(value->span, diag::AxisRemains, spell(axis))
        .label(result.span, "declared here")
        .hint("remove it by a reduction `over " + spell(axis) +
              "`, or add it to the result");
    return nullptr;
  }
  return value;
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
  const auto *written =
      llvm::dyn_cast<ast::TupleExpr>(ast::withoutParens(stmt.value));
  const auto *made = llvm::dyn_cast<TupleExpression>(value);
  if (!written || !made) {
    for (auto [given, wanted] : llvm::zip(value->type->elements, type.elements))
      if (!sameType(given->scalar, wanted->scalar)) {
        report(value->span, diag::TypeMismatch, source(value->span),
               spell(given->scalar), spell(wanted->scalar));
        return nullptr;
      }
    return value;
  }
  llvm::SmallVector<const Expression *, 4> elements;
  for (auto [element, text, wanted] :
       llvm::zip(made->elements, written->elements, type.elements)) {
    const Expression *one = element;
    if (llvm::isa<ConstantExpression>(one))
      one = check(text.value);
    one = coerce(asScalar(one), wanted->scalar);
    if (!one)
      return nullptr;
    elements.push_back(one);
  }
  auto *node = make<TupleExpression>(value->span, &type);
  node->elements = builder.list(elements);
  return node;
}

void DeclarationChecker::evaluate(const ast::ExpressionStmt &stmt,
                                  StatementList &into) {
  const Expression *value = check(stmt.expr);
  if (!value)
    return;
  const auto *builtin = llvm::dyn_cast<BuiltinExpression>(value);
  bool hasEffect =
      value->type->isVoid() ||
      (builtin && builtinInfo(builtin->builtin).group == BuiltinGroup::Atomic);
  if (const auto *call = llvm::dyn_cast<CallExpression>(value))
    hasEffect |= llvm::any_of(call->callee->parameters,
                              [](const Parameter &p) { return p.isMutable; });
  if (!hasEffect) {
    report(value->span, diag::UselessExpression)
        .hint("name it with `let`, or return it");
    return;
  }
  auto *node = makeStatement<EvaluateStatement>(stmt.span);
  node->expression = value;
  into.push_back(node);
}
