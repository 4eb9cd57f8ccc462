// Works conditions around barriers out for every thread of a block.
#include "frontend/check/Divided.h"

#include "frontend/typed/Arithmetic.h"
#include "frontend/typed/ThreadAxes.h"
#include "frontend/typed/Walk.h"

#include "llvm/ADT/DenseMap.h"

#include <array>

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

/// Nothing where it depends on more than the thread.
using Known = std::optional<Constant>;
using Thread = std::array<std::int64_t, 3>;

class Finder {
public:
  DividedBarrier find(const Declaration &kernel) {
    search(kernel.body);
    return found;
  }

private:
  Known valueOf(const Expression *expression, const Thread &thread) const;
  Known roundsOf(const ForStatement &loop, const Thread &thread) const;
  bool differs(llvm::function_ref<Known(const Thread &)> value) const;
  const Expression *barrierIn(Block block) const;
  void decide(const Expression &condition, Block within);
  void decide(const ForStatement &loop);
  void search(Block block);
  void learn(const LaunchStatement &launch);

  llvm::DenseMap<const Variable *, const Expression *> known;
  std::array<std::int64_t, 3> block = {}; ///< zero until it is known
  DividedBarrier found;
};

Known Finder::valueOf(const Expression *expression,
                      const Thread &thread) const {
  ScalarType type = expression->scalar();
  if (type != ScalarType::boolean() && type != ScalarType::integer())
    return std::nullopt;
  if (const auto *e = llvm::dyn_cast<ConstantExpression>(expression))
    return e->value;
  if (const auto *e = llvm::dyn_cast<BuiltinExpression>(expression))
    return e->builtin == Builtin::ThreadId
               ? Known(Constant::ofInteger(thread[e->dimension]))
               : std::nullopt;
  if (const auto *e = llvm::dyn_cast<VariableExpression>(expression)) {
    const Expression *value = known.lookup(e->variable);
    return value ? valueOf(value, thread) : std::nullopt;
  }
  if (const auto *e = llvm::dyn_cast<UnaryExpression>(expression)) {
    Known value = valueOf(e->operand, thread);
    return value ? Known(apply(e->op, *value, type.element())) : std::nullopt;
  }
  const auto *e = llvm::dyn_cast<BinaryExpression>(expression);
  Known left = e ? valueOf(e->left, thread) : std::nullopt;
  Known right = left ? valueOf(e->right, thread) : std::nullopt;
  if (!right)
    return std::nullopt;
  return apply(e->op, *left, *right, e->left->scalar().element());
}

/// How often the loop runs.
Known Finder::roundsOf(const ForStatement &loop, const Thread &thread) const {
  if (loop.broken)
    return std::nullopt;
  Known lower = valueOf(loop.lower, thread), step = valueOf(loop.step, thread);
  Known upper = valueOf(loop.upper, thread);
  if (!lower || !upper || !step || step->integer <= 0)
    return std::nullopt;
  Known way = applyExactly(BinaryOperator::Sub, upper->integer, lower->integer);
  if (!way)
    return std::nullopt;
  return Constant::ofInteger(
      way->integer > 0 ? (way->integer - 1) / step->integer + 1 : 0);
}

/// Whether it is known for all threads and not the same for them.
bool Finder::differs(llvm::function_ref<Known(const Thread &)> value) const {
  std::optional<std::int64_t> first;
  for (std::int64_t z = 0; z < block[2]; ++z)
    for (std::int64_t y = 0; y < block[1]; ++y)
      for (std::int64_t x = 0; x < block[0]; ++x) {
        Known now = value({x, y, z});
        if (!now)
          return false;
        bool isBool = now->kind == Constant::Kind::Boolean;
        std::int64_t number = isBool ? now->boolean : now->integer;
        if (first && *first != number)
          return true;
        first = number;
      }
  return false;
}

/// The first that threads of a block meet at: a barrier, or a reduction over
/// the block.
const Expression *Finder::barrierIn(Block within) const {
  const Expression *barrier = nullptr;
  walk(within, [&](const Expression &e) {
    const auto *builtin = llvm::dyn_cast<BuiltinExpression>(&e);
    const auto *reduce = llvm::dyn_cast<ReduceExpression>(&e);
    const auto *scan = llvm::dyn_cast<ScanExpression>(&e);
    bool meets = (builtin && builtin->builtin == Builtin::Barrier) ||
                 (reduce && llvm::is_contained(reduce->over, blockThreads)) ||
                 (scan && scan->over == blockThreads);
    if (meets && !barrier)
      barrier = &e;
  });
  return barrier;
}

void Finder::decide(const Expression &condition, Block within) {
  const Expression *barrier = found.barrier ? nullptr : barrierIn(within);
  if (barrier && differs([&](const Thread &thread) {
        return valueOf(&condition, thread);
      }))
    found = {&condition, barrier};
  search(within);
}

void Finder::decide(const ForStatement &loop) {
  const Expression *barrier = found.barrier ? nullptr : barrierIn(loop.body);
  if (barrier &&
      differs([&](const Thread &thread) { return roundsOf(loop, thread); }))
    found = {loop.upper, barrier};
  search(loop.body);
}

void Finder::learn(const LaunchStatement &launch) {
  block = {1, 1, 1};
  for (auto [size, extent] : llvm::zip(block, launch.block)) {
    const auto *number = llvm::dyn_cast_or_null<ConstantExpression>(extent);
    size = number ? number->value.integer : 0;
  }
}

/// What is chosen when compiling may not be there.
void Finder::search(Block within) {
  for (const Statement *statement : within) {
    if (const auto *launch = llvm::dyn_cast<LaunchStatement>(statement))
      learn(*launch);
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement))
      if (!let->isTuple && let->variables.front() &&
          let->variables.front()->kind == VariableKind::Let)
        known[let->variables.front()] = let->value;
    if (const auto *loop = llvm::dyn_cast<ForStatement>(statement))
      decide(*loop);
    if (const auto *loop = llvm::dyn_cast<WhileStatement>(statement))
      decide(*loop->condition, loop->body);
    const auto *branch = llvm::dyn_cast<IfStatement>(statement);
    if (!branch || branch->isConst)
      continue;
    decide(*branch->condition, branch->then);
    decide(*branch->condition, branch->otherwise);
  }
}

} // namespace

DividedBarrier check::dividedBarrier(const Declaration &kernel) {
  return Finder().find(kernel);
}
