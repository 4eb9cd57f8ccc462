// Statements that every kind of text has: let, var, return, calls.
#include "frontend/check/Extents.h"
#include "frontend/check/Lists.h"
#include "frontend/check/LoopBody.h"

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
  llvm::SmallVector<const Statement *, 8> whole;
  llvm::SmallVector<GuardedRest, 0> rests;
  bool wasConst = false;
  for (const ast::Stmt *stmt : text.statements) {
    StatementList &statements = rests.empty() ? whole : rests.back().statements;
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
    bool isLast = stmt == text.statements.back();
    if (auto rest =
            loop && !isLast ? loop->restAfter(statements) : std::nullopt) {
      rests.push_back(std::move(*rest));
      wasConst = false;
    }
  }
  if (nesting + rests.size() > deepest)
    report(text.span, diag::TooDeep, deepest);
  for (GuardedRest &rest : llvm::reverse(rests))
    (rest.isThen ? rest.branch->then : rest.branch->otherwise) =
        builder.list(rest.statements);
  masks = std::move(oldMasks);
  knownPresent = std::move(oldPresent);
  knownAbsent = std::move(oldAbsent);
  closeScope(mark);
  --nesting;
  return builder.list(whole);
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
  case ast::Stmt::Kind::Break:
  case ast::Stmt::Kind::Continue:
    if (loop)
      return loop->leave(stmt, into);
    report(stmt.span, diag::JumpOutsideLoop, source(stmt.span));
    return;
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
  if (name.text() == "_")
    return nullptr;
  return newVariable(name.text(), name.span, kind, type);
}

void DeclarationChecker::let(const ast::LetStmt &stmt, StatementList &into) {
  if (!stmt.pattern.isTuple)
    argumentNames.readTuple(stmt.value);
  const Expression *value = check(stmt.value);
  if (stmt.pattern.names.empty()) { // `let () = x`: the parser refuses it
    hasFailed = true;
    return;
  }
  if (value && !usable(value))
    value = nullptr;
  AxisList named;
  if (value && stmt.type)
    value = annotated(stmt.type, value, named);
  value = ListChecker(*this).typed(value);
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
    define(stmt.pattern.names[0].text(), binding);
    return;
  }
  bindPattern(stmt.pattern, settle(value), stmt.span, into);
  auto made = names.find(stmt.pattern.names[0].text());
  if (made == names.end() || !made->second.variable)
    return;
  if (!named.empty())
    axisOrders.write(*made->second.variable, named);
  if (!stmt.pattern.isTuple && !stmt.type)
    Extents(*this).note(*made->second.variable, value);
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
      define(name.text(), Binding{});
    return;
  }
  auto *node = makeStatement<LetStatement>(span);
  node->value = value;
  node->isTuple = pattern.isTuple;
  llvm::SmallVector<const Variable *, 4> variables;
  for (auto [number, name] : llvm::enumerate(pattern.names)) {
    const Variable *made = patternVariable(
        name, pattern.isTuple ? value->type->elements[number] : value->type,
        VariableKind::Let);
    if (made)
      axisOrders.define(*made, value, axes, pattern.isTuple ? number : -1);
    variables.push_back(made);
  }
  node->variables = builder.list(variables);
  into.push_back(node);
}

void DeclarationChecker::variable(const ast::VarStmt &stmt,
                                  StatementList &into) {
  const Expression *value = check(stmt.value);
  if (value && !usable(value))
    value = nullptr;
  AxisList named;
  if (value && stmt.type)
    value = annotated(stmt.type, value, named);
  value = ListChecker(*this).typed(value);
  bool isLiteral =
      value && isWeak(value) && llvm::isa<ConstantExpression>(value);
  value = settle(value);
  if (value && place != Place::Host)
    value = asScalar(value);
  if (!value) {
    hasFailed = true;
    define(stmt.name.text(), Binding{});
    return;
  }
  const Type *type = value->type;
  if (type->isScalar()) {
    AxisList all =
        unite(unite(type->axes, named), widened[stmt.name.span.begin]);
    type = types.scalar(stmt.type ? value->scalar() : type->scalar, all,
                        type->pack);
  }
  auto *node = makeStatement<LetStatement>(stmt.span);
  node->value = value;
  const Variable *made = patternVariable(stmt.name, type, VariableKind::Var);
  if (made)
    axisOrders.define(*made, value, axes);
  if (made && !named.empty())
    axisOrders.write(*made, named);
  if (made && isLiteral)
    names[made->name].alias = value;
  node->variables = builder.list(llvm::ArrayRef(made));
  into.push_back(node);
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
