// Follows a body with the assignments that lie before, each branch by itself.
#include "frontend/check/MutReads.h"

#include "frontend/typed/Walk.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallSet.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

using Variables = llvm::SmallPtrSet<const Variable *, 4>;

/// Calls `visit` for every variable that an expression reads, also in the
/// bounds of local axes that it runs along.
class Reads {
public:
  Reads(llvm::ArrayRef<Axis> axes,
        llvm::function_ref<void(const Variable &)> visit)
      : axes(axes), visit(visit) {}

  void of(const Expression *expression) {
    walk(expression, [&](const Expression &e) {
      if (const auto *name = llvm::dyn_cast<VariableExpression>(&e))
        visit(*name->variable);
      if (e.type->isScalar())
        bounds(e.axes());
      if (const auto *reduce = llvm::dyn_cast<ReduceExpression>(&e))
        bounds(reduce->over);
    });
  }

private:
  void bounds(llvm::ArrayRef<AxisId> list) {
    for (AxisId axis : list) {
      bool isLocal =
          axis.index < axes.size() && axes[axis.index].kind == AxisKind::Local;
      if (!isLocal || !seen.insert(axis.index).second)
        continue;
      of(axes[axis.index].lower);
      of(axes[axis.index].upper);
    }
  }

  llvm::ArrayRef<Axis> axes;
  llvm::function_ref<void(const Variable &)> visit;
  llvm::SmallSet<unsigned, 4> seen;
};

/// Collects parameters that are read behind an assignment.
class Follower {
public:
  explicit Follower(llvm::ArrayRef<Axis> axes) : axes(axes) {}
  void follow(Block block);
  llvm::SmallVector<const Variable *, 2> found;

private:
  void read(const Expression *expression);
  /// What a body assigns anywhere, its later iterations find assigned.
  void collect(Block block);

  llvm::ArrayRef<Axis> axes;
  Variables assigned;
};

/// Collects values that nothing reads before the next assignment. Branches and
/// loops are looked at by themselves: what may be read on one way counts.
class LossFinder {
public:
  explicit LossFinder(const Declaration &declaration);
  void follow(Block block);
  llvm::SmallVector<LostValue, 2> found;

private:
  void read(const Expression *expression);
  void assign(const AssignStatement &statement);
  void inside(llvm::ArrayRef<Block> blocks);

  const Declaration &declaration;
  llvm::SmallDenseMap<const Variable *, const AssignStatement *, 4> unread;
};

} // namespace

void Follower::read(const Expression *expression) {
  Reads(axes, [&](const Variable &variable) {
    if (assigned.contains(&variable) && !llvm::is_contained(found, &variable))
      found.push_back(&variable);
  }).of(expression);
}

void Follower::collect(Block block) {
  for (const Statement *statement : block) {
    if (const auto *assign = llvm::dyn_cast<AssignStatement>(statement)) {
      for (const Variable *target : assign->targets)
        if (target && target->kind == VariableKind::Parameter)
          assigned.insert(target);
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      collect(branch->then);
      collect(branch->otherwise);
    } else if (const auto *loop = llvm::dyn_cast<ForStatement>(statement)) {
      collect(loop->body);
    } else if (const auto *loop = llvm::dyn_cast<WhileStatement>(statement)) {
      collect(loop->body);
    }
  }
}

void Follower::follow(Block block) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      read(let->value);
    } else if (const auto *set = llvm::dyn_cast<AssignStatement>(statement)) {
      read(set->value);
      collect(statement);
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      read(branch->condition);
      Variables before = assigned;
      follow(branch->then);
      std::swap(before, assigned);
      follow(branch->otherwise);
      assigned.insert(before.begin(), before.end());
    } else if (const auto *loop = llvm::dyn_cast<ForStatement>(statement)) {
      for (const Expression *bound : {loop->lower, loop->upper, loop->step})
        read(bound);
      collect(loop->body);
      follow(loop->body);
    } else if (const auto *loop = llvm::dyn_cast<WhileStatement>(statement)) {
      collect(loop->body);
      read(loop->condition);
      read(loop->bound);
      follow(loop->body);
    } else if (const auto *end = llvm::dyn_cast<ReturnStatement>(statement)) {
      for (const Expression *value : end->values)
        read(value);
    }
  }
}

LossFinder::LossFinder(const Declaration &declaration)
    : declaration(declaration) {}

void LossFinder::read(const Expression *expression) {
  Reads(declaration.axes, [&](const Variable &variable) {
    unread.erase(&variable);
  }).of(expression);
}

void LossFinder::assign(const AssignStatement &statement) {
  read(statement.value);
  for (const Variable *target : statement.targets) {
    // A parameter that is read later has a variable of its name and place.
    bool isMutable =
        target &&
        llvm::any_of(declaration.parameters, [&](const Parameter &parameter) {
          return parameter.isMutable &&
                 parameter.variable->span == target->span;
        });
    if (!isMutable)
      continue;
    if (const AssignStatement *lost = unread.lookup(target))
      found.push_back({lost, &statement, target});
    unread[target] = &statement;
  }
}

void LossFinder::inside(llvm::ArrayRef<Block> blocks) {
  for (Block block : blocks) {
    unread.clear();
    follow(block);
  }
  unread.clear();
}

void LossFinder::follow(Block block) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement))
      read(let->value);
    else if (const auto *set = llvm::dyn_cast<AssignStatement>(statement))
      assign(*set);
    else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement))
      inside({branch->then, branch->otherwise});
    else if (const auto *loop = llvm::dyn_cast<ForStatement>(statement))
      inside(loop->body);
    else if (const auto *loop = llvm::dyn_cast<WhileStatement>(statement))
      inside(loop->body);
    else
      unread.clear();
  }
}

llvm::SmallVector<const Variable *, 2>
check::readAfterAssignment(Block body, llvm::ArrayRef<Axis> axes) {
  Follower follower(axes);
  follower.follow(body);
  return std::move(follower.found);
}

llvm::SmallVector<LostValue, 2>
check::lostValues(const Declaration &declaration) {
  LossFinder finder(declaration);
  finder.follow(declaration.body);
  return std::move(finder.found);
}
