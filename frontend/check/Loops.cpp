// Branches and loops.
#include "frontend/check/Lists.h"
#include "frontend/check/LoopBody.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

void DeclarationChecker::ifStatement(const ast::IfStmt &stmt,
                                     StatementList &into) {
  if (stmt.isConst)
    constIf(stmt, 0, into);
  else
    ifBranches(stmt, 0, into);
}

void DeclarationChecker::ifBranches(const ast::IfStmt &stmt, std::size_t number,
                                    StatementList &into) {
  const ast::IfBranch &branch = stmt.branches[number];
  const Expression *condition = checkCondition(branch.condition);
  AxisList outer = controlAxes;
  if (condition)
    controlAxes = unite(controlAxes, condition->axes());
  auto *node = makeStatement<IfStatement>(stmt.span);
  node->condition = condition;
  node->then = block(branch.body);
  llvm::SmallVector<const Statement *, 4> otherwise;
  if (number + 1 != stmt.branches.size())
    ifBranches(stmt, number + 1, otherwise);
  else if (stmt.otherwise)
    llvm::append_range(otherwise, block(*stmt.otherwise));
  node->otherwise = builder.list(otherwise);
  // Behind a branch that returns, the rest happens only where it did not.
  bool returns = !fallsThrough(node->then) ||
                 (!otherwise.empty() && !fallsThrough(node->otherwise));
  if (!returns)
    controlAxes = outer;
  if (condition)
    into.push_back(node);
}

llvm::StringRef DeclarationChecker::returnHint(typed::Block block) {
  const Statement *last = block.empty() ? nullptr : block.back();
  if (llvm::isa_and_present<IfStatement>(last))
    return "return behind the `if`, or in its `else`";
  if (llvm::isa_and_present<ForStatement, WhileStatement>(last))
    return "return behind the loop, which may have no rounds";
  return "end it with `return …`";
}

bool DeclarationChecker::fallsThrough(typed::Block block) {
  if (block.empty())
    return true;
  const Statement *last = block.back();
  const auto *set = llvm::dyn_cast<AssignStatement>(last);
  if (llvm::isa<ReturnStatement>(last) || (set && set->leaves))
    return false;
  const auto *branch = llvm::dyn_cast<IfStatement>(last);
  return !branch || branch->otherwise.empty() || fallsThrough(branch->then) ||
         fallsThrough(branch->otherwise);
}

void DeclarationChecker::forStatement(const ast::ForStmt &stmt,
                                      StatementList &into) {
  const auto *call =
      llvm::dyn_cast<ast::CallExpr>(ast::withoutParens(stmt.iterable));
  const auto *name =
      call ? llvm::dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  if (name && name->name().text() == "range" && !names.count("range"))
    return forRange(stmt, *call, into);
  if (place == Place::Host)
    return ListChecker(*this).statement(stmt.pattern, stmt.iterable, stmt.body,
                                        stmt.span, false, into);
  hasFailed = true;
  const auto *axis = llvm::dyn_cast<ast::NameExpr>(stmt.iterable);
  const Binding *binding = axis ? lookup(axis->name().text()) : nullptr;
  bool isAxis = binding && binding->kind == Binding::Kind::Axis;
  if (!llvm::isa<ast::ErrorExpr>(stmt.iterable))
    report(stmt.iterable->span, diag::NotIterable)
        .hint(isAxis && place == Place::Lifted
                  ? "values along an axis are reduced: `sum(… over " +
                        source(stmt.iterable->span) + ")`"
                  : "loop over `range(…)`");
}

void DeclarationChecker::forRange(const ast::ForStmt &stmt,
                                  const ast::CallExpr &range,
                                  StatementList &into) {
  std::size_t count = range.arguments.size();
  llvm::SmallVector<const Expression *, 3> bounds;
  argumentNames.expect(range.arguments);
  for (const ast::Argument &argument : range.arguments) {
    llvm::SaveAndRestore use(axisUse, AxisUse::Extent);
    bounds.push_back(checkInteger(argument.value));
  }
  bool isPlain = !stmt.pattern.isTuple;
  if (count == 0 || count > 3)
    report(range.span, diag::RangeArguments, count);
  if (!isPlain)
    report(stmt.pattern.span, diag::NotATuple, stmt.pattern.names.size());
  std::size_t mark = openScope();
  AxisList outer = controlAxes;
  bool isValid = isPlain && count >= 1 && count <= 3 &&
                 !llvm::is_contained(bounds, nullptr);
  auto *node = makeStatement<ForStatement>(stmt.span);
  if (!isValid) {
    for (const ast::Identifier &name : stmt.pattern.names)
      define(name.text(), Binding{});
  } else {
    node->lower = count == 1 ? integerConstant(range.span, 0) : bounds[0];
    node->upper = count == 1 ? bounds[0] : bounds[1];
    node->step = count == 3 ? bounds[2] : integerConstant(range.span, 1);
    const auto *step = llvm::dyn_cast<ConstantExpression>(node->step);
    if (step && step->value.isZero())
      report(step->span, diag::ZeroStep);
    AxisList over = uniteAll({node->lower, node->upper, node->step});
    controlAxes = unite(controlAxes, over);
    node->variable = patternVariable(stmt.pattern.names[0],
                                     types.scalar(ScalarType::integer(), over),
                                     VariableKind::Loop);
    for (const Expression *bound : {node->lower, node->upper, node->step})
      if (node->variable)
        axisOrders.define(*node->variable, bound, axes);
  }
  LoopBody(*this, stmt.span).fill(*node, stmt.body, into);
  controlAxes = outer;
  closeScope(mark);
  if (isValid)
    into.push_back(node);
}

void DeclarationChecker::whileStatement(const ast::WhileStmt &stmt,
                                        StatementList &into) {
  const Expression *condition = checkCondition(stmt.condition);
  const Expression *bound = stmt.bound ? checkInteger(stmt.bound) : nullptr;
  // Lanes that are done wait for the others: only a bound makes that finite.
  bool needsBound = place == Place::Lifted || place == Place::Scalar;
  if (needsBound && !stmt.bound)
    report(stmt.span, diag::UnboundedLoop, keyword(declaration.kind))
        .hint("`while … bound 64:` stops after 64 iterations, done or not");
  AxisList outer = controlAxes;
  if (condition)
    controlAxes = unite(controlAxes, condition->axes());
  auto *node = makeStatement<WhileStatement>(stmt.span);
  node->condition = condition;
  node->bound = bound;
  {
    LoopBody body(*this, stmt.span);
    node->body = body.check(stmt.body);
    // First whether the loop goes on: its condition may not be asked after it.
    if (const Expression *goesOn = body.goesOn(into); goesOn && condition)
      node->condition = makeBinary(BinaryOperator::And, stmt.span, stmt.span,
                                   goesOn, condition);
  }
  controlAxes = outer;
  if (condition)
    into.push_back(node);
}

void DeclarationChecker::each(const ast::EachStmt &stmt, StatementList &into) {
  if (place != Place::Host)
    return misplaced(stmt.span, "each");
  bool wasFailed = hasFailed;
  std::size_t before = into.size();
  ListChecker(*this).statement(stmt.pattern, stmt.iterable, stmt.body,
                               stmt.span, true, into);
  if (into.size() == before || (hasFailed && !wasFailed))
    return;
  const auto *node = llvm::cast<ForEachStatement>(into.back());
  const auto *only = node->body.size() == 1
                         ? llvm::dyn_cast<EvaluateStatement>(node->body.front())
                         : nullptr;
  bool isCall = only && llvm::isa<CallExpression>(only->expression);
  if (!isCall)
    report(stmt.span, diag::EachBody);
}
