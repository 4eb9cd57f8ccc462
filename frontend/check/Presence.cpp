// What the `return`s of a body may give for an optional result.
#include "frontend/check/Presence.h"

#include "frontend/typed/Walk.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

/// A set of a value and of none.
struct Outcomes {
  bool value = false, none = false;

  bool isOne() const { return value != none; }
  Outcomes operator|(Outcomes other) const {
    return {value || other.value, none || other.none};
  }
};

constexpr Outcomes either = {true, true};

bool asksTarget(const Expression &condition) {
  bool asks = false;
  walk(&condition,
       [&](const Expression &e) { asks |= llvm::isa<TargetExpression>(e); });
  return asks;
}

class Body {
public:
  explicit Body(const Declaration &declaration) { collect(declaration.body); }

  /// Of result `number`, behind `block` what `next` says.
  Outcomes outcomes(Block block, std::size_t number, Outcomes next);

  const Expression *decision = nullptr; ///< the first one on the target

private:
  void collect(Block block);
  Outcomes of(const Expression *value, unsigned field);

  llvm::DenseMap<const Variable *, std::pair<const Expression *, unsigned>>
      named;
};

void Body::collect(Block block) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement))
      for (auto [index, variable] : llvm::enumerate(let->variables))
        named[variable] = {let->value, unsigned(index)};
    if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      collect(branch->then);
      collect(branch->otherwise);
    }
  }
}

Outcomes Body::of(const Expression *value, unsigned field) {
  if (!value)
    return {.none = true};
  if (const auto *element = llvm::dyn_cast<FieldExpression>(value))
    return of(element->base, element->index);
  if (const auto *name = llvm::dyn_cast<VariableExpression>(value)) {
    if (auto found = named.find(name->variable); found != named.end())
      return of(found->second.first, found->second.second);
    return name->variable->isOptional ? either : Outcomes{.value = true};
  }
  const auto *call = llvm::dyn_cast<CallExpression>(value);
  if (!call || field >= call->callee->results.size() ||
      !call->callee->results[field].isOptional)
    return {.value = true};
  Body callee(*call->callee);
  return callee.outcomes(call->callee->body, field, either);
}

Outcomes Body::outcomes(Block block, std::size_t number, Outcomes next) {
  for (const Statement *statement : llvm::reverse(block)) {
    if (const auto *result = llvm::dyn_cast<ReturnStatement>(statement))
      next = number < result->values.size() ? of(result->values[number], 0)
                                            : either;
    const auto *branch = llvm::dyn_cast<IfStatement>(statement);
    if (!branch)
      continue;
    Outcomes then = outcomes(branch->then, number, next);
    Outcomes otherwise = outcomes(branch->otherwise, number, next);
    if (branch->isConst && then.isOne() && otherwise.isOne() &&
        then.value != otherwise.value && asksTarget(*branch->condition))
      decision = branch->condition;
    next = then | otherwise;
  }
  return next;
}

} // namespace

const Expression *check::decidedByTarget(const Declaration &declaration,
                                         std::size_t number) {
  Body body(declaration);
  body.outcomes(declaration.body, number, either);
  return body.decision;
}
