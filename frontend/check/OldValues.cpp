// Follows a body with the assignments that lie behind, branches apart.
#include "frontend/check/OldValues.h"

#include "frontend/typed/Walk.h"

#include "llvm/ADT/DenseMap.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

using Assigned = llvm::SmallDenseMap<const Variable *, const Statement *, 4>;

class Follower {
public:
  void follow(Block block);
  llvm::SmallVector<OldValue, 2> found;

private:
  void read(const Expression *expression);
  void readAll(Expressions expressions) {
    for (const Expression *each : expressions)
      read(each);
  }
  void loop(Block body);
  void collect(Block block);

  Assigned assigned;
};

} // namespace

void Follower::read(const Expression *expression) {
  walk(expression, [&](const Expression &e) {
    const auto *name = llvm::dyn_cast<VariableExpression>(&e);
    auto last = name ? assigned.find(name->variable) : assigned.end();
    if (last != assigned.end())
      found.push_back({name, last->second});
  });
}

/// What a body assigns anywhere, its later rounds find assigned.
void Follower::collect(Block block) {
  for (const Statement *statement : block) {
    if (const auto *assign = llvm::dyn_cast<AssignStatement>(statement)) {
      for (const Variable *target : assign->targets)
        if (target && target->kind == VariableKind::Parameter)
          assigned[target] = assign;
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      collect(branch->then);
      collect(branch->otherwise);
    } else if (const auto *rounds = llvm::dyn_cast<ForStatement>(statement)) {
      collect(rounds->body);
    } else if (const auto *rounds = llvm::dyn_cast<WhileStatement>(statement)) {
      collect(rounds->body);
    }
  }
}

void Follower::loop(Block body) {
  collect(body);
  follow(body);
}

void Follower::follow(Block block) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      read(let->value);
    } else if (const auto *assign =
                   llvm::dyn_cast<AssignStatement>(statement)) {
      read(assign->value);
      collect(statement);
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      read(branch->condition);
      Assigned before = assigned;
      follow(branch->then);
      std::swap(before, assigned);
      follow(branch->otherwise);
      assigned.insert(before.begin(), before.end());
    } else if (const auto *rounds = llvm::dyn_cast<ForStatement>(statement)) {
      readAll({rounds->lower, rounds->upper, rounds->step});
      loop(rounds->body);
    } else if (const auto *rounds = llvm::dyn_cast<WhileStatement>(statement)) {
      collect(rounds->body);
      read(rounds->condition);
      follow(rounds->body);
    } else if (const auto *result =
                   llvm::dyn_cast<ReturnStatement>(statement)) {
      readAll(result->values);
    }
  }
}

llvm::SmallVector<OldValue, 2>
check::oldValues(const Declaration &declaration) {
  Follower follower;
  follower.follow(declaration.body);
  return std::move(follower.found);
}
