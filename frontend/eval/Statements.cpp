// Bodies: scalar ones run, lifted ones become meanings.
#include "frontend/eval/Evaluator.h"

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
    return expression(node, frame, scope, {}).asInteger();
  };
  std::int64_t lower = bound(*loop.lower), upper = bound(*loop.upper);
  std::int64_t step = loop.step ? bound(*loop.step) : 1;
  std::int64_t i = lower;
  bool hasOverflowed = false;
  while (!hasOverflowed && (step > 0 ? i < upper : i > upper)) {
    if (loop.variable)
      locals[loop.variable->id] =
          Value::of(frame.computeType(loop.variable->type->scalar),
                    Constant::ofInteger(i));
    if (!spendStep() || run(loop.body, frame, locals, results) || failure)
      return true;
    hasOverflowed = __builtin_add_overflow(i, step, &i);
  }
  return false;
}

bool Evaluator::runWhile(const WhileStatement &loop, const Frame &frame,
                         Locals &locals, std::vector<Value> &results) {
  Scope scope = scopeOf(locals);
  std::int64_t rounds =
      loop.bound ? expression(*loop.bound, frame, scope, {}).asInteger()
                 : std::numeric_limits<std::int64_t>::max();
  while (rounds-- > 0 && !failure &&
         expression(*loop.condition, frame, scope, {}).truth())
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
      Value value = expression(*let->value, frame, scope, {});
      assign(let->variables, let->isTuple, value, locals);
    } else if (const auto *set = llvm::dyn_cast<AssignStatement>(statement)) {
      Value value = expression(*set->value, frame, scope, {});
      assign(set->targets, set->targets.size() > 1, value, locals);
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      bool taken = expression(*branch->condition, frame, scope, {}).truth();
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
        results.push_back(value ? expression(*value, frame, scope, {})
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
        entry->second = expression(*node, frame, scope, point);
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
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement);
               branch && branch->isConst) {
      bool taken = expression(*branch->condition, frame, scope, {}).truth();
      if (liftedBlock(taken ? branch->then : branch->otherwise, frame, scope,
                      results))
        return true;
    } else {
      fail("the evaluator does not lift this statement");
      return true;
    }
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
    auto find = [&](unsigned id) {
      const Environment *at = scope.get();
      while (at && at->id != id)
        at = at->outer.get();
      return at;
    };
    const Environment *at = find(storedId(*parameter.variable));
    if (!at)
      at = find(parameter.variable->id);
    results.push_back(at ? at->meaning : Lifted());
  }
  return results;
}

} // namespace quern::eval
