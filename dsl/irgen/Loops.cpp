// Loops of scalar code: unrolled when short and known, else `scf.while`.
#include "dsl/irgen/Assigned.h"
#include "dsl/irgen/Counters.h"
#include "dsl/irgen/Generator.h"

#include "frontend/diagnostics/Engine.h"
#include "frontend/typed/Rounds.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// Rounds up to which a loop with known bounds is written out.
static constexpr std::int64_t unrolledRounds = 32;

/// What one `scf.while` is made from.
struct Generator::Loop {
  typed::Block body;
  const Variable *counter = nullptr; ///< of a `for`
  Scalar begin, end, step;           ///< of a `for`
  const Variable *broken = nullptr;  ///< of a `for` with a `break`
  const Expression *condition = nullptr;
  Scalar bound; ///< of a `while`, or nothing
  SmallVector<const Variable *, 4> assigned;
  bool returns = false;
};

using FoldedIntegers = llvm::DenseMap<mlir::Value, std::optional<APInt>>;

static std::optional<APInt> foldedIn(mlir::Value value, FoldedIntegers &known);

/// What the operation of `value` folds to with folded operands.
static std::optional<APInt> foldOperation(mlir::Value value,
                                          FoldedIntegers &known) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
    return std::nullopt;
  SmallVector<Attribute> operands;
  for (mlir::Value operand : op->getOperands()) {
    std::optional<APInt> folded = foldedIn(operand, known);
    if (!folded)
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *folded));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  auto folded = dyn_cast<Attribute>(results.front());
  auto integer = dyn_cast_if_present<IntegerAttr>(folded);
  return integer ? std::optional(integer.getValue()) : std::nullopt;
}

/// Each value once: `x + x` of `x + x` would double the work with every line.
static std::optional<APInt> foldedIn(mlir::Value value, FoldedIntegers &known) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<APInt> folded = foldOperation(value, known);
  known[value] = folded;
  return folded;
}

std::optional<APInt> irgen::foldedInteger(mlir::Value value) {
  FoldedIntegers known;
  return foldedIn(value, known);
}

/// Whether a loop is written out: a short one, and one whose rounds need all
/// places of the round before, which are launches then.
bool Generator::isWrittenOut(const typed::ForStatement &statement,
                             std::int64_t rounds) {
  std::int64_t all = rounds * roundsAround;
  if (all <= unrolledRounds)
    return true;
  typed::WaitingRound waiting = typed::waitingRound(statement);
  if (!waiting.expression)
    return rounds <= unrolledRounds;
  waiting.rounds = all;
  readsBack = true;
  return all <= typed::mostWrittenRounds ||
         holds([&](DiagnosticEngine &diagnostics) {
           Span span = waiting.expression->span;
           diagnostics.report(span, diag::RoundsUnknown,
                              request.module.sources().text(span),
                              typed::kindOfRounds(waiting));
           return false;
         });
}

bool Generator::unroll(const typed::ForStatement &statement) {
  auto value = [&](const Expression *expression,
                   std::int64_t missing) -> std::optional<std::int64_t> {
    if (!expression)
      return missing;
    if (auto constant = known(*expression))
      return constant->integer;
    auto folded = foldedInteger(scalar(*expression).value);
    return folded ? std::optional(folded->getSExtValue()) : std::nullopt;
  };
  auto lower = value(statement.lower, 0), upper = value(statement.upper, 0);
  auto step = value(statement.step, 1);
  if (!lower || !upper || !step || *step == 0)
    return false;
  constexpr std::int64_t countless = std::int64_t(1) << 40;
  std::int64_t left = typed::roundsOf(*lower, *upper, *step);
  std::int64_t rounds = std::clamp<std::int64_t>(left, 1, countless);
  if (!isWrittenOut(statement, rounds))
    return false;
  llvm::SaveAndRestore around(roundsAround, roundsAround * rounds);
  for (auto i = static_cast<std::uint64_t>(*lower);
       left > 0 && !frame->returned.always;
       --left, i += static_cast<std::uint64_t>(*step)) {
    if (statement.variable)
      bind(*statement.variable,
           b.integer(ElementType::I64, static_cast<std::int64_t>(i)));
    if (statement.broken)
      executeArms(b.bitNot(current(*statement.broken).scalar), statement.body,
                  {}, /*otherwiseReturns=*/false);
    else
      execute(statement.body);
  }
  return true;
}

void Generator::executeFor(const typed::ForStatement &statement) {
  if (isThreadText() ? executeCounted(statement) : unroll(statement))
    return;
  Loop loop;
  loop.body = statement.body;
  loop.counter = statement.variable;
  loop.broken = statement.broken;
  auto bound = [&](const Expression *expression, std::int64_t missing) {
    if (!expression)
      return b.integer(ElementType::I64, missing);
    return b.cast(scalar(*expression), ElementType::I64);
  };
  loop.begin = bound(statement.lower, 0);
  loop.end = bound(statement.upper, 0);
  loop.step = bound(statement.step, 1);
  at(statement.span);
  emitLoop(loop);
}

void Generator::executeWhile(const typed::WhileStatement &statement) {
  Loop loop;
  loop.body = statement.body;
  loop.condition = statement.condition;
  if (statement.bound) {
    loop.begin = b.integer(ElementType::I64, 0);
    loop.bound = b.cast(scalar(*statement.bound), ElementType::I64);
    loop.step = b.integer(ElementType::I64, 1);
  }
  at(statement.span);
  emitLoop(loop);
}

/// Whether another round begins, in terms of the loop's variables.
mlir::Value Generator::anotherRound(const Loop &loop, Scalar counter) {
  Scalar go = b.boolean(true);
  if (loop.end) {
    Scalar zero = b.integer(ElementType::I64, 0);
    Scalar upwards = b.less(zero, loop.step);
    go =
        b.select(upwards, b.less(counter, loop.end), b.less(loop.end, counter));
  }
  if (loop.bound)
    go = b.less(counter, loop.bound);
  if (frame->returned.flag && loop.returns)
    go = b.bitAnd(go, b.bitNot(frame->returned.flag));
  if (loop.broken)
    go = b.bitAnd(go, b.bitNot(current(*loop.broken).scalar));
  if (loop.condition)
    go = b.bitAnd(go, scalar(*loop.condition));
  if (mlir::Value around = predicate()) {
    go = b.bitAnd(go, {ElementType::Bool, around, nullptr});
    if (auto both = go.value.getDefiningOp<arith::AndIOp>())
      skippedLoops.push_back({both, {conditions.begin(), conditions.end()}});
  }
  return go.value;
}

/// The counter of the round behind. Where it would pass the numbers of 64 bits
/// it is where the loop ends.
Scalar Generator::counterBehind(const Loop &loop, Scalar counter) {
  Scalar next = b.add(counter, loop.step);
  if (!loop.end ||
      staysCountable(loop.begin.value, loop.end.value, loop.step.value))
    return next;
  Scalar upwards = b.less(b.integer(ElementType::I64, 0), loop.step);
  Scalar isPast =
      b.select(upwards, b.less(next, counter), b.less(counter, next));
  return b.select(isPast, loop.end, next);
}

/// What goes round: the counter, the assigned variables, whether and what the
/// loop has returned.
Values Generator::carried(const Loop &loop, Scalar counter) {
  Values values = handOut(loop.assigned, loop.returns);
  if (counter)
    values.insert(values.begin(), counter);
  return values;
}

/// The counter; the other values become what the names stand for.
Scalar Generator::enter(const Loop &loop, Values values, bool hasCounter) {
  Scalar counter;
  if (hasCounter) {
    counter = values.front().scalar;
    values.erase(values.begin());
  }
  takeResults(values, loop.assigned, loop.returns);
  return counter;
}

/// A loop has a flag of its own for lanes that return in it: of those that had
/// returned ahead of it only a condition says so, which may be taken off.
ReturnState Generator::beginReturns(const Loop &loop) {
  ReturnState before = frame->returned;
  if (!loop.returns || !before.flag)
    return before;
  Scalar ahead = before.flag;
  if (before.ahead)
    ahead = b.bitOr(ahead, before.ahead);
  frame->returned = {};
  frame->returned.ahead = ahead;
  return before;
}

/// Lanes that had returned keep what they gave.
void Generator::endReturns(const Loop &loop, ReturnState &before) {
  if (!loop.returns || !before.flag)
    return;
  ReturnState &returned = frame->returned;
  returned.ahead = before.ahead;
  returned.values = returned.never() ? std::move(before.values)
                                     : selectValues(before.flag, before.values,
                                                    returned.values);
  if (!returned.always)
    returned.flag = returned.flag
                        ? b.select(before.flag, b.boolean(true), returned.flag)
                        : before.flag;
}

void Generator::emitLoop(Loop &loop) {
  loop.returns = collectCarried(loop.body, loop.assigned);
  llvm::erase_if(loop.assigned, [&](const Variable *variable) {
    return frame->binding(*variable).kind == Binding::Kind::Unset;
  });
  Location location = b.location;
  ReturnState earlier = beginReturns(loop);
  Values initial = carried(loop, loop.begin);
  SmallVector<mlir::Value, 8> operands = flatten(initial);
  TypeRange types((ValueRange(operands)));
  auto op = b.create<scf::WhileOp>(types, operands);
  SmallVector<Location, 8> locations(types.size(), location);
  OpBuilder::InsertionGuard guard(builder);
  bool counts = static_cast<bool>(loop.begin);

  Block *before = builder.createBlock(&op.getBefore(), {}, types, locations);
  Values inBefore = unflatten(initial, before->getArguments());
  Scalar counter = enter(loop, inBefore, counts);
  mlir::Value go = anotherRound(loop, counter);
  b.create<scf::ConditionOp>(go, before->getArguments());

  Block *after = builder.createBlock(&op.getAfter(), {}, types, locations);
  counter = enter(loop, unflatten(initial, after->getArguments()), counts);
  if (loop.counter)
    bind(*loop.counter, counter);
  execute(loop.body);
  at(request.declaration.nameSpan);
  b.location = location;
  Scalar next = counts ? counterBehind(loop, counter) : Scalar();
  b.create<scf::YieldOp>(flatten(carried(loop, next)));

  builder.setInsertionPointAfter(op);
  enter(loop, unflatten(initial, op.getResults()), counts);
  endReturns(loop, earlier);
}
