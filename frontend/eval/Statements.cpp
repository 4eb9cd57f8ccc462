// Bodies: scalar ones run, lifted ones become meanings.
#include "frontend/eval/Evaluator.h"

#include "frontend/typed/Rounds.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace quern::eval {

using namespace typed;

void Evaluator::assign(llvm::ArrayRef<const Variable *> targets, bool isTuple,
                       const Value &value, Locals &locals) {
  if (failure)
    return;
  for (auto [index, target] : llvm::enumerate(targets))
    if (target)
      locals[target->id] = isTuple ? value.elements[index] : value;
}

bool Evaluator::runFor(const ForStatement &loop, const Frame &frame,
                       Locals &locals, std::vector<Value> &results) {
  Scope scope = scopeOf(locals);
  auto bound = [&](const Expression &node) {
    return expression(node, {frame, scope, {}}).asInteger();
  };
  std::int64_t lower = bound(*loop.lower), upper = bound(*loop.upper);
  std::int64_t step = loop.step ? bound(*loop.step) : 1;
  auto i = static_cast<std::uint64_t>(lower);
  for (std::int64_t left = roundsOf(lower, upper, step); left > 0;
       --left, i += static_cast<std::uint64_t>(step)) {
    if (loop.broken && locals[loop.broken->id].truth())
      break;
    if (loop.variable)
      locals[loop.variable->id] =
          Value::of(frame.computeType(loop.variable->type->scalar),
                    Constant::ofInteger(static_cast<std::int64_t>(i)));
    if (!spendStep() || run(loop.body, frame, locals, results) || failure)
      return true;
  }
  return false;
}

bool Evaluator::runWhile(const WhileStatement &loop, const Frame &frame,
                         Locals &locals, std::vector<Value> &results) {
  Scope scope = scopeOf(locals);
  std::int64_t rounds =
      loop.bound ? expression(*loop.bound, {frame, scope, {}}).asInteger()
                 : std::numeric_limits<std::int64_t>::max();
  while (rounds-- > 0 && !failure &&
         expression(*loop.condition, {frame, scope, {}}).truth())
    if (run(loop.body, frame, locals, results))
      return true;
  return failure.has_value();
}

bool Evaluator::run(Block block, const Frame &frame, Locals &locals,
                    std::vector<Value> &results) {
  Scope scope = scopeOf(locals);
  for (const Statement *statement : block) {
    if (failure)
      return true;
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      Value value = expression(*let->value, {frame, scope, {}});
      assign(let->variables, let->isTuple, value, locals);
    } else if (const auto *set = llvm::dyn_cast<AssignStatement>(statement)) {
      Value value = expression(*set->value, {frame, scope, {}});
      assign(set->targets, set->targets.size() > 1, value, locals);
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      bool taken = expression(*branch->condition, {frame, scope, {}}).truth();
      if (run(taken ? branch->then : branch->otherwise, frame, locals, results))
        return true;
    } else if (const auto *loop = llvm::dyn_cast<ForStatement>(statement)) {
      if (runFor(*loop, frame, locals, results))
        return true;
    } else if (const auto *loop = llvm::dyn_cast<WhileStatement>(statement)) {
      if (runWhile(*loop, frame, locals, results))
        return true;
    } else if (const auto *end = llvm::dyn_cast<ReturnStatement>(statement)) {
      for (const Expression *value : end->values)
        results.push_back(value ? expression(*value, {frame, scope, {}})
                                : Value::absent());
      return true;
    } else {
      fail("the statement belongs to a `kernel` or an `op`");
    }
  }
  return false;
}

namespace {

/// What a `mut` parameter is assigned stands beside its old value, which reads
/// still give.
unsigned storedId(const Variable &parameter) { return ~parameter.id; }

Scope assigned(const Scope &scope, const Variable &target, Lifted meaning) {
  bool isStored = target.kind == typed::VariableKind::Parameter;
  unsigned id = isStored ? storedId(target) : target.id;
  return std::make_shared<const Environment>(
      Environment{scope, id, std::move(meaning)});
}

/// The variables that a block assigns, inner blocks included.
void assignedIn(Block block, std::vector<const Variable *> &targets) {
  for (const Statement *statement : block) {
    if (const auto *set = llvm::dyn_cast<AssignStatement>(statement))
      for (const Variable *target : set->targets)
        if (target && !llvm::is_contained(targets, target))
          targets.push_back(target);
    if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      assignedIn(branch->then, targets);
      assignedIn(branch->otherwise, targets);
    }
    if (const auto *loop = llvm::dyn_cast<ForStatement>(statement))
      assignedIn(loop->body, targets);
  }
}

const Environment *find(const Scope &scope, unsigned id) {
  const Environment *at = scope.get();
  while (at && at->id != id)
    at = at->outer.get();
  return at;
}

/// What an assignment gave the variable last, or what it was defined as;
/// nothing for one that is not known here.
Lifted meaningOf(const Scope &scope, const Variable &variable) {
  const Environment *at = nullptr;
  if (variable.kind == typed::VariableKind::Parameter)
    at = find(scope, storedId(variable));
  if (!at)
    at = find(scope, variable.id);
  return at ? at->meaning : Lifted();
}

/// The axes whose positions a value depends on pick its entry in a memory of
/// what was computed before.
std::vector<Positions> keyOf(llvm::ArrayRef<AxisId> axes, const Point &point) {
  std::vector<Positions> key;
  for (AxisId axis : axes)
    if (auto at = point.find(axis.index); at != point.end())
      key.push_back(at->second);
  return key;
}

} // namespace

bool Evaluator::liftedBlock(Block block, const Frame &frame, Scope &scope,
                            std::vector<Lifted> &results) {
  auto lift = [&](const Expression *node) -> Lifted {
    using Memory = std::map<std::vector<Positions>, Value>;
    auto memory = std::make_shared<Memory>();
    return [this, node, &frame, scope, memory](const Point &point) {
      auto [entry, isNew] =
          memory->try_emplace(keyOf(node->type->axes, point), Value());
      if (isNew || !node->type->isScalar())
        entry->second = expression(*node, {frame, scope, point});
      return entry->second;
    };
  };
  auto bind = [&](llvm::ArrayRef<const Variable *> targets, bool isTuple,
                  const Expression *node) {
    Lifted whole = lift(node);
    for (auto [index, target] : llvm::enumerate(targets)) {
      if (!target)
        continue;
      Lifted part = whole;
      if (isTuple)
        part = [this, whole, index = index](const Point &point) {
          Value value = whole(point);
          return failure ? value : value.elements[index];
        };
      scope = assigned(scope, *target, std::move(part));
    }
  };
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      bind(let->variables, let->isTuple, let->value);
    } else if (const auto *set = llvm::dyn_cast<AssignStatement>(statement)) {
      bind(set->targets, set->targets.size() > 1, set->value);
    } else if (const auto *end = llvm::dyn_cast<ReturnStatement>(statement)) {
      for (const Expression *value : end->values)
        results.push_back(value ? lift(value) : Lifted());
      return true;
    } else if (liftedControl(*statement, frame, scope, results)) {
      return true;
    }
  }
  return false;
}

bool Evaluator::liftedControl(const Statement &statement, const Frame &frame,
                              Scope &scope, std::vector<Lifted> &results) {
  if (const auto *loop = llvm::dyn_cast<ForStatement>(&statement))
    return liftedLoop(*loop, frame, scope);
  const auto *branch = llvm::dyn_cast<IfStatement>(&statement);
  if (!branch) {
    fail("the evaluator does not lift this statement");
    return true;
  }
  if (!branch->isConst) {
    Lifted condition = [this, branch, &frame, scope](const Point &point) {
      return expression(*branch->condition, {frame, scope, point});
    };
    return liftedBranch(condition, branch->then, branch->otherwise, frame,
                        scope);
  }
  bool taken = expression(*branch->condition, {frame, scope, {}}).truth();
  return liftedBlock(taken ? branch->then : branch->otherwise, frame, scope,
                     results);
}

/// Each variable that a side assigns is, at every point, what its side says.
bool Evaluator::liftedBranch(const Lifted &condition, Block whenTrue,
                             Block whenFalse, const Frame &frame,
                             Scope &scope) {
  Scope then = scope, otherwise = scope;
  std::vector<Lifted> none;
  if (liftedBlock(whenTrue, frame, then, none) ||
      liftedBlock(whenFalse, frame, otherwise, none)) {
    fail("the evaluator does not lift a branch that returns");
    return true;
  }
  std::vector<const Variable *> targets;
  assignedIn(whenTrue, targets);
  assignedIn(whenFalse, targets);
  for (const Variable *target : targets) {
    if (!meaningOf(scope, *target))
      continue; // the side's own
    Lifted left = meaningOf(then, *target);
    Lifted right = meaningOf(otherwise, *target);
    scope =
        assigned(scope, *target, [condition, left, right](const Point &point) {
          return condition(point).truth() ? left(point) : right(point);
        });
  }
  return false;
}

/// A loop whose bounds are the same everywhere.
bool Evaluator::liftedLoop(const ForStatement &loop, const Frame &frame,
                           Scope &scope) {
  for (const Expression *bound : {loop.lower, loop.upper, loop.step})
    if (bound && !bound->axes().empty()) {
      fail("the evaluator does not lift a loop with bounds of each point");
      return true;
    }
  auto number = [&](const Expression *bound, std::int64_t missing) {
    return bound ? expression(*bound, {frame, scope, {}}).asInteger() : missing;
  };
  std::int64_t step = number(loop.step, 1), end = number(loop.upper, 0);
  std::int64_t begin = number(loop.lower, 0);
  auto i = static_cast<std::uint64_t>(begin);
  std::vector<Lifted> none;
  for (std::int64_t left = roundsOf(begin, end, step); !failure && left > 0;
       --left, i += static_cast<std::uint64_t>(step)) {
    if (!spendStep())
      return true;
    auto counter = static_cast<std::int64_t>(i);
    if (loop.variable)
      scope = assigned(scope, *loop.variable, [counter](const Point &) {
        return Value::integer(counter);
      });
    // At points where the loop has ended nothing more is assigned.
    Lifted ended = loop.broken ? meaningOf(scope, *loop.broken) : Lifted();
    auto goesOn = [ended](const Point &point) {
      return Value::boolean(!ended(point).truth());
    };
    if (ended ? liftedBranch(goesOn, loop.body, {}, frame, scope)
              : liftedBlock(loop.body, frame, scope, none))
      return true;
  }
  return false;
}

std::vector<Lifted> Evaluator::liftedBody(const Frame &frame, Scope scope) {
  std::vector<Lifted> results;
  liftedBlock(frame.declaration.body, frame, scope, results);
  // What a `mut` parameter was assigned follows the results, in order.
  for (const Parameter &parameter : frame.declaration.parameters) {
    if (!parameter.isMutable)
      continue;
    results.push_back(meaningOf(scope, *parameter.variable));
  }
  return results;
}

} // namespace quern::eval
