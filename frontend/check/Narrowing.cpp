// `if const`: conditions, and what holds in their branches.
#include "frontend/check/Facts.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

void DeclarationChecker::collectFacts(const Expression *condition, bool holds,
                                      Facts &facts) {
  if (const auto *test = llvm::dyn_cast<TypeTestExpression>(condition)) {
    bool isUsable = test->tested.isBareParameter() &&
                    (test->againstConstraint || test->other.isConcrete());
    if (!isUsable)
      return;
    ElementMask mask = test->againstConstraint
                           ? check::maskOf(test->constraint)
                           : check::maskOf(test->other.element());
    facts.elements.emplace_back(test->tested.parameterIndex(),
                                holds ? mask : ~mask & allElements);
    return;
  }
  if (const auto *present = llvm::dyn_cast<PresentExpression>(condition)) {
    (holds ? facts.present : facts.absent).push_back(present->variable);
    return;
  }
  if (const auto *unary = llvm::dyn_cast<UnaryExpression>(condition)) {
    if (unary->op == UnaryOperator::Not)
      collectFacts(unary->operand, !holds, facts);
    return;
  }
  const auto *binary = llvm::dyn_cast<BinaryExpression>(condition);
  // Both sides of `a and b` hold; neither side of `a or b` does if it fails.
  bool isBoth = binary && binary->op == (holds ? BinaryOperator::And
                                               : BinaryOperator::Or);
  if (isBoth) {
    collectFacts(binary->left, holds, facts);
    collectFacts(binary->right, holds, facts);
  }
  bool isEither = binary && holds && binary->op == BinaryOperator::Or;
  if (!isEither)
    return;
  // `T == f16 or T == bf16`: one of the two.
  Facts left, right;
  collectFacts(binary->left, true, left);
  collectFacts(binary->right, true, right);
  if (left.elements.size() == 1 && right.elements.size() == 1 &&
      left.elements[0].first == right.elements[0].first)
    facts.elements.emplace_back(left.elements[0].first,
                                left.elements[0].second |
                                    right.elements[0].second);
}

void DeclarationChecker::assume(const Facts &facts) {
  for (auto [index, mask] : facts.elements)
    // Nothing left: the branch is never taken, and anything may stand there.
    if (ElementMask narrowed = masks[index] & mask)
      masks[index] = narrowed;
  knownPresent.insert(facts.present.begin(), facts.present.end());
  knownAbsent.insert(facts.absent.begin(), facts.absent.end());
}

typed::Block DeclarationChecker::blockUnder(const ast::Block &text,
                                            const Facts &facts) {
  auto oldMasks = masks;
  auto oldPresent = knownPresent, oldAbsent = knownAbsent;
  assume(facts);
  Block checked = block(text);
  masks = std::move(oldMasks);
  knownPresent = std::move(oldPresent);
  knownAbsent = std::move(oldAbsent);
  return checked;
}

const Expression *DeclarationChecker::checkUnder(const ast::Expr *expr,
                                                 const Facts &facts) {
  auto oldMasks = masks;
  auto oldPresent = knownPresent, oldAbsent = knownAbsent;
  assume(facts);
  const Expression *value = check(expr);
  if (value && !usable(value))
    value = nullptr;
  masks = std::move(oldMasks);
  knownPresent = std::move(oldPresent);
  knownAbsent = std::move(oldAbsent);
  return value;
}

const Expression *DeclarationChecker::constCondition(const ast::Expr *expr) {
  const Expression *condition = checkCondition(expr);
  if (!condition)
    return nullptr;
  if (!isCompileTimeValue(condition)) {
    report(expr->span, diag::ConstConditionNotConstant)
        .hint("write `if` without `const`");
    return nullptr;
  }
  return fold(condition);
}

void DeclarationChecker::constIf(const ast::IfStmt &stmt, std::size_t number,
                                 StatementList &into) {
  const ast::IfBranch &branch = stmt.branches[number];
  const Expression *condition = constCondition(branch.condition);
  if (!condition)
    return;
  bool isLast = number + 1 == stmt.branches.size();
  if (const auto *known = llvm::dyn_cast<ConstantExpression>(condition)) {
    // What the condition decides here and now leaves no trace; the other
    // branches are for other parameters, and are not checked under these.
    if (known->value.boolean)
      llvm::append_range(into, block(branch.body));
    else if (!isLast)
      constIf(stmt, number + 1, into);
    else if (stmt.otherwise)
      llvm::append_range(into, block(*stmt.otherwise));
    return;
  }
  Facts yes, no;
  collectFacts(condition, true, yes);
  collectFacts(condition, false, no);
  auto *node = makeStatement<IfStatement>(stmt.span);
  node->condition = condition;
  node->isConst = true;
  node->then = blockUnder(branch.body, yes);
  auto oldMasks = masks;
  auto oldPresent = knownPresent, oldAbsent = knownAbsent;
  assume(no);
  llvm::SmallVector<const Statement *, 4> otherwise;
  if (!isLast)
    constIf(stmt, number + 1, otherwise);
  else if (stmt.otherwise)
    llvm::append_range(otherwise, block(*stmt.otherwise));
  node->otherwise = builder.list(otherwise);
  into.push_back(node);
  // Behind a branch that always returns, its condition did not hold.
  bool elseReturns = !node->otherwise.empty() && !fallsThrough(node->otherwise);
  if (!fallsThrough(node->then) && !elseReturns)
    return;
  masks = std::move(oldMasks);
  knownPresent = std::move(oldPresent);
  knownAbsent = std::move(oldAbsent);
  if (elseReturns && fallsThrough(node->then))
    assume(yes);
}
