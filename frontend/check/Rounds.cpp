// Finds in loops what needs all places of a round before the next one begins.
#include "frontend/check/Rounds.h"

#include "frontend/typed/ConstantValue.h"
#include "frontend/typed/Walk.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

/// More rounds than this are never written out.
constexpr std::int64_t writtenRounds = 32;

class Finder {
public:
  WaitingRound found;
  void block(Block block);

private:
  void loop(const Statement &statement, Block body);
  void assigned(Block body);
  void look(const Expression &expression);
  bool carries(const Expression *expression, llvm::ArrayRef<AxisId> axes,
               unsigned depth = 0);
  bool changes(const Expression &expression);

  const Statement *around = nullptr; ///< the loop
  llvm::DenseSet<const Variable *> carried;
  llvm::DenseMap<const Variable *, const Expression *> named;
};

/// Bounds that are known when a kernel is compiled, as far as the text tells.
bool isKnown(const Expression *bound) {
  bool known = true;
  walk(bound, [&](const Expression &e) {
    const auto *name = llvm::dyn_cast<VariableExpression>(&e);
    // The counter of a loop that is written out is a constant in its rounds.
    known &= !name || name->variable->kind == VariableKind::Loop;
    known &= !llvm::isa<BuiltinExpression, LoadExpression, ReduceExpression>(e);
  });
  return known;
}

bool isWrittenOut(const ForStatement &loop) {
  auto value = [](const Expression *e, std::int64_t missing) {
    auto constant = e ? evaluateConstant(*e, {}) : Constant::ofInteger(missing);
    return constant ? std::optional(constant->integer) : std::nullopt;
  };
  auto lower = value(loop.lower, 0), upper = value(loop.upper, 0);
  auto step = value(loop.step, 1);
  if (lower && upper && step && *step != 0)
    return (*upper - *lower) / *step <= writtenRounds;
  return isKnown(loop.lower) && isKnown(loop.upper) && isKnown(loop.step);
}

void Finder::assigned(Block body) {
  for (const Statement *statement : body) {
    if (const auto *assign = llvm::dyn_cast<AssignStatement>(statement))
      carried.insert_range(assign->targets);
    if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      assigned(branch->then);
      assigned(branch->otherwise);
    }
    if (const auto *inner = llvm::dyn_cast<ForStatement>(statement)) {
      carried.insert(inner->variable);
      assigned(inner->body);
    }
    if (const auto *inner = llvm::dyn_cast<WhileStatement>(statement))
      assigned(inner->body);
  }
}

void Finder::loop(const Statement &statement, Block body) {
  if (around)
    return block(body);
  around = &statement;
  if (const auto *counted = llvm::dyn_cast<ForStatement>(&statement))
    carried.insert(counted->variable);
  assigned(body);
  if (const auto *open = llvm::dyn_cast<WhileStatement>(&statement))
    look(*open->condition);
  block(body);
  carried.clear();
  around = nullptr;
}

/// Whether a value comes from what the loop carries along one of `axes`.
bool Finder::carries(const Expression *expression, llvm::ArrayRef<AxisId> axes,
                     unsigned depth) {
  constexpr unsigned deepest = 32;
  bool result = false;
  walk(expression, [&](const Expression &e) {
    const auto *name = llvm::dyn_cast<VariableExpression>(&e);
    if (!name || result || depth == deepest)
      return;
    if (auto let = named.find(name->variable); let != named.end())
      result = carries(let->second, axes, depth + 1);
    else if (carried.contains(name->variable))
      result = llvm::any_of(name->variable->type->axes, [&](AxisId axis) {
        return llvm::is_contained(axes, axis);
      });
  });
  return result;
}

/// Whether a value is another one in the next round.
bool Finder::changes(const Expression &expression) {
  bool result = false;
  walk(&expression, [&](const Expression &e) {
    const auto *name = llvm::dyn_cast<VariableExpression>(&e);
    if (!name || result)
      return;
    result = carried.contains(name->variable);
    if (auto let = named.find(name->variable); let != named.end())
      result |= changes(*let->second);
  });
  return result;
}

void Finder::look(const Expression &expression) {
  if (!around)
    return;
  walk(&expression, [&](const Expression &e) {
    bool waits =
        llvm::isa<ScanExpression, SortExpression, ScatterExpression>(e);
    if (const auto *reduction = llvm::dyn_cast<ReduceExpression>(&e)) {
      waits = carries(reduction->where, reduction->over);
      for (const Expression *operand : reduction->operands)
        waits |= carries(operand, reduction->over);
    }
    if (const auto *load = llvm::dyn_cast<LoadExpression>(&e))
      waits = load->base->type->isScalar() && !load->positions.empty() &&
              changes(*load->base);
    if (waits && !found.expression)
      found = {&e, around};
  });
}

void Finder::block(Block block) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      look(*let->value);
      for (const Variable *variable : let->variables)
        if (variable && around && variable->kind == VariableKind::Let)
          named[variable] = let->value;
    }
    if (const auto *assign = llvm::dyn_cast<AssignStatement>(statement))
      look(*assign->value);
    if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      look(*branch->condition);
      this->block(branch->then);
      this->block(branch->otherwise);
    }
    if (const auto *result = llvm::dyn_cast<ReturnStatement>(statement))
      for (const Expression *value : result->values)
        if (value)
          look(*value);
    if (const auto *counted = llvm::dyn_cast<ForStatement>(statement)) {
      if (isWrittenOut(*counted) && !around)
        this->block(counted->body);
      else
        loop(*counted, counted->body);
    }
    if (const auto *open = llvm::dyn_cast<WhileStatement>(statement))
      loop(*open, open->body);
  }
}

} // namespace

WaitingRound check::waitingRound(const Declaration &declaration) {
  Finder finder;
  finder.block(declaration.body);
  return finder.found;
}
