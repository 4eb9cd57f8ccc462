// Finds in loops what needs all places of a round before the next one begins.
#include "frontend/typed/Rounds.h"

#include "frontend/typed/ConstantValue.h"
#include "frontend/typed/Walk.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <limits>

using namespace quern;
using namespace quern::typed;

std::int64_t typed::roundsOf(std::int64_t lower, std::int64_t upper,
                             std::int64_t step) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (step > 0 ? lower >= upper : lower <= upper)
    return 0;
  if (step == 0)
    return most;
  // Without a sign: the way may be longer than the longest with one.
  auto from = static_cast<std::uint64_t>(lower);
  auto to = static_cast<std::uint64_t>(upper);
  auto stride = static_cast<std::uint64_t>(step);
  if (step < 0) {
    std::swap(from, to);
    stride = 0 - stride;
  }
  std::uint64_t rounds = (to - from - 1) / stride + 1;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(rounds, most));
}

namespace {

class Finder {
public:
  WaitingRound found;
  void block(Block block);
  void loop(const Statement &statement, Block body);

private:
  using Seen = llvm::DenseSet<const Variable *>;
  void assigned(Block body);
  void look(const Expression &expression);
  void enter(const CallExpression &call);
  bool waits(const Expression &expression);
  bool carries(const Expression *expression, llvm::ArrayRef<AxisId> axes);
  bool reaches(const Expression *expression, llvm::ArrayRef<AxisId> axes,
               Seen &seen);
  bool changes(const Expression &expression);
  void define(const Variable *variable, const Expression *value) {
    if (variable && around)
      definitions[variable].push_back(value);
  }

  const Statement *around = nullptr; ///< the loop
  llvm::DenseSet<const Variable *> carried;
  /// What names stand for, in the loop and in what it calls.
  llvm::DenseMap<const Variable *, llvm::SmallVector<const Expression *, 1>>
      definitions;
  llvm::SmallVector<const CallExpression *> calls; ///< that we look into
  unsigned entered = 0; ///< calls that we have looked into
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

/// The number of rounds, where the text says it.
std::optional<std::int64_t> statedRounds(const ForStatement &loop) {
  auto value = [](const Expression *e, std::int64_t missing) {
    auto constant = e ? evaluateConstant(*e, {}) : Constant::ofInteger(missing);
    return constant ? std::optional(constant->integer) : std::nullopt;
  };
  auto lower = value(loop.lower, 0), upper = value(loop.upper, 0);
  auto step = value(loop.step, 1);
  if (!lower || !upper || !step || *step == 0)
    return std::nullopt;
  return typed::roundsOf(*lower, *upper, *step);
}

bool isWrittenOut(const ForStatement &loop) {
  if (auto rounds = statedRounds(loop))
    return *rounds <= mostWrittenRounds;
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
  const auto *open = llvm::dyn_cast<WhileStatement>(&statement);
  if (around) {
    if (open)
      look(*open->condition);
    return block(body);
  }
  around = &statement;
  if (const auto *counted = llvm::dyn_cast<ForStatement>(&statement))
    carried.insert(counted->variable);
  assigned(body);
  if (open)
    look(*open->condition);
  block(body);
  carried.clear();
  definitions.clear();
  around = nullptr;
}

/// The axes of the loop's declaration that axes of what we look into stand for.
static llvm::SmallVector<AxisId, 4>
outside(llvm::ArrayRef<AxisId> axes,
        llvm::ArrayRef<const CallExpression *> calls) {
  llvm::SmallVector<AxisId, 4> now(axes);
  for (const CallExpression *call : llvm::reverse(calls)) {
    llvm::SmallVector<AxisId, 4> outer;
    for (AxisId axis : now)
      if (axis.index < call->axes.size())
        llvm::append_range(outer, call->axes[axis.index].axes);
    now = std::move(outer);
  }
  return now;
}

/// Whether a value comes from what the loop carries along one of `axes`.
bool Finder::carries(const Expression *expression,
                     llvm::ArrayRef<AxisId> axes) {
  Seen seen;
  return reaches(expression, outside(axes, calls), seen);
}

bool Finder::reaches(const Expression *expression, llvm::ArrayRef<AxisId> axes,
                     Seen &seen) {
  bool result = false;
  walk(expression, [&](const Expression &e) {
    const auto *name = llvm::dyn_cast<VariableExpression>(&e);
    if (!name || result || !seen.insert(name->variable).second)
      return;
    if (auto known = definitions.find(name->variable);
        known != definitions.end())
      for (const Expression *each : known->second)
        result |= reaches(each, axes, seen);
    if (carried.contains(name->variable))
      result |= llvm::any_of(name->variable->type->axes, [&](AxisId axis) {
        return llvm::is_contained(axes, axis);
      });
  });
  return result;
}

/// Whether a value is another one in the next round.
bool Finder::changes(const Expression &expression) {
  Seen seen;
  llvm::SmallVector<const Expression *> open{&expression};
  bool result = false;
  while (!open.empty() && !result)
    walk(open.pop_back_val(), [&](const Expression &e) {
      const auto *name = llvm::dyn_cast<VariableExpression>(&e);
      if (!name || !seen.insert(name->variable).second)
        return;
      result |= carried.contains(name->variable);
      if (auto known = definitions.find(name->variable);
          known != definitions.end())
        llvm::append_range(open, known->second);
    });
  return result;
}

bool Finder::waits(const Expression &expression) {
  if (const auto *reduction = llvm::dyn_cast<ReduceExpression>(&expression))
    return carries(reduction->where, reduction->over) ||
           llvm::any_of(reduction->operands, [&](const Expression *operand) {
             return carries(operand, reduction->over);
           });
  if (const auto *load = llvm::dyn_cast<LoadExpression>(&expression)) {
    const auto *name = llvm::dyn_cast<VariableExpression>(load->base);
    bool isValue = load->base->type->isScalar() ||
                   (name && definitions.contains(name->variable));
    return isValue && !load->positions.empty() && changes(*load->base);
  }
  return llvm::isa<ScanExpression, SortExpression, ScatterExpression>(
      expression);
}

void Finder::look(const Expression &expression) {
  if (!around)
    return;
  walk(&expression, [&](const Expression &e) {
    if (found.expression)
      return;
    if (waits(e))
      found = {&e, around};
    else if (const auto *call = llvm::dyn_cast<CallExpression>(&e))
      enter(*call);
  });
}

/// What is called is text of the loop, with the arguments for the parameters.
void Finder::enter(const CallExpression &call) {
  if (call.callee->kind != DeclarationKind::Rowwise || call.callee->hasError)
    return;
  // Calls of calls double; of so many one is taken to wait.
  constexpr unsigned mostCalls = 1u << 14;
  if (++entered > mostCalls) {
    found = {&call, around};
    return;
  }
  for (auto [parameter, argument] :
       llvm::zip(call.callee->parameters, call.arguments)) {
    definitions[parameter.variable].clear();
    if (argument)
      define(parameter.variable, argument);
  }
  calls.push_back(&call);
  block(call.callee->body);
  calls.pop_back();
  if (found.expression)
    found.expression = &call;
}

void Finder::block(Block block) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      look(*let->value);
      for (const Variable *variable : let->variables)
        define(variable, let->value);
    }
    if (const auto *assign = llvm::dyn_cast<AssignStatement>(statement)) {
      look(*assign->value);
      for (const Variable *variable : assign->targets)
        define(variable, assign->value);
    }
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

WaitingRound typed::waitingRound(const Declaration &declaration) {
  Finder finder;
  finder.block(declaration.body);
  if (const auto *counted =
          llvm::dyn_cast_if_present<ForStatement>(finder.found.loop))
    finder.found.rounds = statedRounds(*counted);
  return finder.found;
}

WaitingRound typed::waitingRound(const ForStatement &loop) {
  Finder finder;
  finder.loop(loop, loop.body);
  return finder.found;
}

std::string typed::kindOfRounds(const WaitingRound &found) {
  if (!found.rounds)
    return "rounds that are counted only when running";
  return (llvm::Twine(*found.rounds) + " rounds, at most " +
          llvm::Twine(mostWrittenRounds) + " are possible")
      .str();
}
