// `break` and `continue`: each sets a variable of its loop. The rest of a block
// that one of them may leave stands under a condition, so that the stages
// after it see only variables and branches.
#include "frontend/check/LoopBody.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

LoopBody::LoopBody(DeclarationChecker &checker, Span loop)
    : checker(checker), outer(checker.loop), span(loop),
      breaks(variable("break", 0)), continues(variable("continue", 1)) {
  checker.loop = this;
  ++checker.loops;
  // Iterations after the first depend on what `break` depends on.
  checker.controlAxes = checker.unite(checker.controlAxes, breaks->type->axes);
}

LoopBody::~LoopBody() {
  checker.loop = outer;
  --checker.loops;
}

/// The names are keywords, so that no other variable has them. `offset` gives
/// the two different places, by which passes over the body learn their axes.
const Variable *LoopBody::variable(llvm::StringRef name, unsigned offset) {
  Variable *made = checker.builder.make<Variable>();
  made->name = name;
  made->span = {span.begin + offset, span.begin + offset};
  made->kind = VariableKind::Var;
  made->id = checker.declaration.variableCount++;
  made->type = checker.types.scalar(
      ScalarType::boolean(),
      checker.unite({}, checker.widened[made->span.begin]));
  return made;
}

const Statement *LoopBody::defined(const Variable &variable) {
  auto *node = checker.makeStatement<LetStatement>(span);
  node->variables = checker.builder.list(llvm::ArrayRef(&variable));
  node->value = checker.booleanConstant(span, false);
  return node;
}

const Expression *LoopBody::isUnset(const Variable &variable) {
  return checker.makeUnary(UnaryOperator::Not,
                           checker.variableValue(variable, span), span);
}

IfStatement *LoopBody::branchOn(const Expression *condition) {
  auto *node = checker.makeStatement<IfStatement>(span);
  node->condition = condition;
  return node;
}

void LoopBody::leave(const ast::Stmt &stmt, StatementList &into) {
  bool isBreak = llvm::isa<ast::BreakStmt>(stmt);
  (isBreak ? hasBreak : hasContinue) = true;
  const Variable *target = isBreak ? breaks : continues;
  if (checker.place == Place::Lifted)
    checker.noteAxes(*target, {});
  auto *node = checker.makeStatement<AssignStatement>(stmt.span);
  node->targets = checker.builder.list(llvm::ArrayRef(target));
  node->value = checker.booleanConstant(stmt.span, true);
  node->leaves = true;
  into.push_back(node);
}

/// The variables that the statement may set to leave the block around it.
static void findLeft(const Statement &statement,
                     llvm::SmallVectorImpl<const Variable *> &found) {
  if (const auto *set = llvm::dyn_cast<AssignStatement>(&statement)) {
    if (set->leaves && !llvm::is_contained(found, set->targets.front()))
      found.push_back(set->targets.front());
    return;
  }
  if (const auto *branch = llvm::dyn_cast<IfStatement>(&statement))
    for (typed::Block arm : {branch->then, branch->otherwise})
      for (const Statement *inner : arm)
        findLeft(*inner, found);
}

static bool mayLeave(typed::Block block) {
  llvm::SmallVector<const Variable *, 2> found;
  for (const Statement *statement : block)
    findLeft(*statement, found);
  return !found.empty();
}

std::optional<GuardedRest> LoopBody::restAfter(StatementList &statements) {
  llvm::SmallVector<const Variable *, 2> left;
  const auto *last = statements.empty()
                         ? nullptr
                         : llvm::dyn_cast<IfStatement>(statements.back());
  if (last)
    findLeft(*last, left);
  if (left.empty() || !DeclarationChecker::fallsThrough(statements))
    return std::nullopt;
  for (const Variable *variable : left)
    checker.controlAxes =
        checker.unite(checker.controlAxes, variable->type->axes);
  // Where one arm always leaves, the rest goes into the other.
  auto belongsTo = [](typed::Block arm, typed::Block other) {
    return !other.empty() && !DeclarationChecker::fallsThrough(other) &&
           !mayLeave(arm);
  };
  GuardedRest rest;
  rest.isThen = belongsTo(last->then, last->otherwise);
  if (rest.isThen || belongsTo(last->otherwise, last->then)) {
    rest.branch = checker.makeStatement<IfStatement>(last->span);
    rest.branch->condition = last->condition;
    rest.branch->isConst = last->isConst;
    rest.branch->then = last->then;
    rest.branch->otherwise = last->otherwise;
    llvm::append_range(rest.statements,
                       rest.isThen ? last->then : last->otherwise);
    statements.back() = rest.branch;
    return rest;
  }
  const Expression *stays = nullptr;
  for (const Variable *variable : left) {
    const Expression *one = isUnset(*variable);
    stays =
        stays ? checker.makeBinary(BinaryOperator::And, span, span, stays, one)
              : one;
  }
  rest.isThen = true;
  rest.branch = branchOn(stays);
  statements.push_back(rest.branch);
  return rest;
}

typed::Block LoopBody::check(const ast::Block &body) {
  typed::Block statements = checker.block(body);
  if (!hasContinue)
    return statements;
  llvm::SmallVector<const Statement *, 8> whole{defined(*continues)};
  llvm::append_range(whole, statements);
  return checker.builder.list(whole);
}

void LoopBody::fill(ForStatement &loop, const ast::Block &body,
                    StatementList &into) {
  loop.body = check(body);
  // The host's loops end by conditions around their bodies.
  if (checker.place == Place::Host)
    loop.body = guarded(loop.body, into);
  else
    loop.broken = broken(into);
}

const Variable *LoopBody::broken(StatementList &into) {
  if (!hasBreak)
    return nullptr;
  into.push_back(defined(*breaks));
  return breaks;
}

const Expression *LoopBody::goesOn(StatementList &into) {
  const Variable *variable = broken(into);
  return variable ? isUnset(*variable) : nullptr;
}

typed::Block LoopBody::guarded(typed::Block body, StatementList &into) {
  const Expression *condition = goesOn(into);
  if (!condition)
    return body;
  IfStatement *branch = branchOn(condition);
  branch->then = body;
  const Statement *only = branch;
  return checker.builder.list(llvm::ArrayRef(only));
}
