// `kernel` text: how it is launched, who a thread is, and what threads do
// together.
#include "dsl/irgen/Assigned.h"
#include "dsl/irgen/Counters.h"
#include "dsl/irgen/Generator.h"

#include "frontend/typed/MemoryCounts.h"
#include "frontend/typed/Walk.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::Builtin;

/// The statements in front of a launch that name what it is made of.
static SmallVector<const typed::Statement *>
namesOf(const typed::LaunchStatement &launch, typed::Block before) {
  llvm::SmallPtrSet<const typed::Variable *, 8> needed;
  auto need = [&](const Expression &part) {
    if (const auto *name = llvm::dyn_cast<typed::VariableExpression>(&part))
      needed.insert(name->variable);
  };
  for (typed::Expressions extents : {launch.grid, launch.block})
    for (const Expression *extent : extents)
      typed::walk(extent, need);
  SmallVector<const typed::Statement *> names;
  for (const typed::Statement *statement : llvm::reverse(before)) {
    const auto *let = llvm::dyn_cast<typed::LetStatement>(statement);
    if (!let || llvm::none_of(let->variables, [&](const auto *variable) {
          return needed.contains(variable);
        }))
      continue;
    typed::walk(let->value, need);
    names.insert(names.begin(), statement);
  }
  return names;
}

/// `launch` stands in the outermost block; what it says holds from the first
/// statement on.
void Generator::executeLaunch() {
  typed::Block body = frame->declaration.body;
  const auto *place =
      llvm::find_if(body, llvm::IsaPred<typed::LaunchStatement>);
  assert(place != body.end() && "the checker wants a launch");
  const auto *launch = llvm::cast<typed::LaunchStatement>(*place);
  execute(namesOf(*launch, body.take_front(place - body.begin())));
  for (typed::Expressions extents : {launch->grid, launch->block}) {
    for (const Expression *extent : extents)
      geometry.push_back(toIndex(scalar(*extent)));
    geometry.append(3 - extents.size(), index(1));
  }
  SmallVector<std::optional<std::int64_t>, 3> block;
  for (mlir::Value extent : ArrayRef(geometry).take_back(3)) {
    auto number = foldedInteger(extent);
    block.push_back(number ? std::optional(number->getSExtValue())
                           : std::nullopt);
  }
  (void)holds([&](DiagnosticEngine &diagnostics) {
    return typed::isGoodBlock(block, launch->span, diagnostics);
  });
  at(launch->span);
  b.create<qn::LaunchOp>(geometry[0], geometry[1], geometry[2], geometry[3],
                         geometry[4], geometry[5]);
}

/// Which lane's value a builtin takes.
static qn::ShuffleKind shuffleKind(Builtin builtin) {
  switch (builtin) {
  case Builtin::ShuffleXor:
    return qn::ShuffleKind::butterfly;
  case Builtin::ShuffleUp:
    return qn::ShuffleKind::up;
  case Builtin::ShuffleDown:
    return qn::ShuffleKind::down;
  default:
    return qn::ShuffleKind::idx;
  }
}

irgen::Value Generator::shuffle(Builtin builtin, Scalar value, Scalar offset) {
  mlir::Value distance = toIndex(offset);
  auto shuffled = [&](mlir::Value part) -> mlir::Value {
    return b.create<qn::ShuffleOp>(part.getType(), shuffleKind(builtin), part,
                                   distance);
  };
  return Scalar{value.type, shuffled(value.value),
                value.isComplex() ? shuffled(value.imaginary) : nullptr};
}

irgen::Value Generator::vote(Builtin builtin, Scalar condition) {
  if (builtin == Builtin::Ballot)
    return Scalar{ElementType::U64,
                  b.create<qn::BallotOp>(builder.getI64Type(), condition.value),
                  nullptr};
  auto kind =
      builtin == Builtin::VoteAny ? qn::VoteKind::any : qn::VoteKind::all;
  return Scalar{
      ElementType::Bool,
      b.create<qn::VoteOp>(builder.getI1Type(), kind, condition.value),
      nullptr};
}

irgen::Value
Generator::threadBuiltin(const typed::BuiltinExpression &expression) {
  auto dimension = static_cast<qn::Dimension>(expression.dimension);
  auto integer = [](mlir::Value value) {
    return Scalar{ElementType::I64, value, nullptr};
  };
  SmallVector<Scalar, 2> operands;
  for (const Expression *operand : expression.operands)
    operands.push_back(scalar(*operand));
  at(expression.span);
  switch (expression.builtin) {
  case Builtin::ThreadId:
    return integer(b.create<qn::ThreadOp>(builder.getI64Type(), dimension));
  case Builtin::BlockId:
    return integer(b.create<qn::BlockOp>(builder.getI64Type(), dimension));
  case Builtin::GridSize:
    return integer(geometry[expression.dimension]);
  case Builtin::BlockSize:
    return integer(geometry[3 + expression.dimension]);
  case Builtin::LaneId:
    return integer(b.create<qn::LaneOp>(builder.getI64Type()));
  case Builtin::Barrier:
  case Builtin::WarpBarrier:
    b.create<qn::BarrierOp>(expression.builtin == Builtin::Barrier
                                ? qn::Scope::block
                                : qn::Scope::warp);
    return Value();
  case Builtin::Ballot:
  case Builtin::VoteAny:
  case Builtin::VoteAll:
    return vote(expression.builtin, operands.front());
  default:
    return shuffle(expression.builtin, operands.front(), operands[1]);
  }
}

/// `a and b` where `b` reads memory: read only where `a` holds.
irgen::Value
Generator::logicalBranch(const typed::BinaryExpression &expression) {
  Scalar left = scalar(*expression.left);
  bool isAnd = expression.op == typed::BinaryOperator::And;
  at(expression.span);
  Location location = b.location;
  auto draft =
      b.create<scf::IfOp>(TypeRange(builder.getI1Type()), left.value, true);
  Block *taken = isAnd ? draft.thenBlock() : draft.elseBlock();
  Block *other = isAnd ? draft.elseBlock() : draft.thenBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(taken);
  Scalar right = scalar(*expression.right);
  b.location = location;
  bool isPure = llvm::all_of(*taken, [](Operation &op) {
    return isMemoryEffectFree(&op) && !op.getNumRegions();
  });
  if (isPure) {
    draft->getBlock()->getOperations().splice(draft->getIterator(),
                                              taken->getOperations());
    builder.setInsertionPoint(draft);
    Scalar result = isAnd ? b.bitAnd(left, right) : b.bitOr(left, right);
    draft->erase();
    return result;
  }
  b.create<scf::YieldOp>(right.value);
  builder.setInsertionPointToEnd(other);
  b.create<scf::YieldOp>(left.value);
  return Scalar{ElementType::Bool, draft.getResult(0), nullptr};
}

/// What follows a conditional `return` runs for the threads that are left.
void Generator::executeRest(typed::Block statements) {
  Scalar stays = b.bitNot(frame->returned.flag);
  frame->returned = {};
  executeArms(stays, statements, {}, /*otherwiseReturns=*/true);
}

Scalar Generator::distance(Scalar low, Scalar high) {
  APInt start;
  bool isBelowZero =
      matchPattern(low.value, m_ConstantInt(&start)) && start.isNonPositive();
  std::uint64_t longest =
      llvm::SaturatingAdd(magnitudeOf(low.value), magnitudeOf(high.value));
  // The difference of far numbers may look like one of the other sign.
  if (!isBelowZero && longest >> 63)
    high = {high.type, b.create<arith::MaxSIOp>(low.value, high.value),
            nullptr};
  return b.subtract(high, low);
}

/// Bounds and step of a loop. Backwards, and where the counter could pass the
/// numbers of 64 bits, it counts from 0 how far the way is. Nothing where the
/// last step could pass them still.
std::optional<Generator::Counting>
Generator::countingOf(const typed::ForStatement &statement, std::int64_t step) {
  auto bound = [&](const Expression *expression) {
    return expression ? b.cast(scalar(*expression), ElementType::I64)
                      : b.integer(ElementType::I64, 0);
  };
  Counting counting;
  counting.lower = counting.first = bound(statement.lower);
  counting.upper = bound(statement.upper);
  counting.isBackward = step < 0;
  at(statement.span);
  counting.stride = b.integer(ElementType::I64, std::abs(step));
  auto isCountable = [&] {
    return staysCountable(counting.lower.value, counting.upper.value,
                          counting.stride.value);
  };
  counting.isFromZero = counting.isBackward || !isCountable();
  if (!counting.isFromZero)
    return counting;
  counting.upper = counting.isBackward
                       ? distance(counting.upper, counting.lower)
                       : distance(counting.lower, counting.upper);
  counting.lower = b.integer(ElementType::I64, 0);
  return isCountable() ? std::optional(counting) : std::nullopt;
}

/// A `for` whose step is known becomes a counted loop; others, and those that
/// return or break, go the general way.
bool Generator::executeCounted(const typed::ForStatement &statement) {
  SmallVector<const Variable *, 4> assigned;
  bool returns = collectCarried(statement.body, assigned);
  auto step =
      statement.step ? known(*statement.step) : typed::Constant::ofInteger(1);
  if (returns || statement.broken || !step || step->integer == 0 ||
      step->integer == std::numeric_limits<std::int64_t>::min())
    return false;
  llvm::erase_if(assigned, [&](const Variable *variable) {
    return frame->binding(*variable).kind == Binding::Kind::Unset;
  });
  std::optional<Counting> counting = countingOf(statement, step->integer);
  if (!counting)
    return false;
  Location location = b.location;
  Values initial;
  for (const Variable *variable : assigned)
    initial.push_back(current(*variable));
  auto loop = b.create<scf::ForOp>(counting->lower.value, counting->upper.value,
                                   counting->stride.value, flatten(initial));
  OpBuilder::InsertionGuard guard(builder);
  Block *inside = loop.getBody();
  if (!inside->empty())
    inside->back().erase();
  builder.setInsertionPointToEnd(inside);
  auto bindAll = [&](ValueRange flat) {
    Values values = unflatten(initial, flat);
    for (auto [variable, value] : llvm::zip(assigned, values))
      assign(*variable, std::move(value));
  };
  bindAll(loop.getRegionIterArgs());
  Scalar counter{ElementType::I64, loop.getInductionVar(), nullptr};
  if (counting->isFromZero)
    counter = counting->isBackward ? b.subtract(counting->first, counter)
                                   : b.add(counting->first, counter);
  if (statement.variable)
    bind(*statement.variable, counter);
  execute(statement.body);
  b.location = location;
  Values last;
  for (const Variable *variable : assigned)
    last.push_back(current(*variable));
  b.create<scf::YieldOp>(flatten(last));
  bindAll(loop.getResults());
  return true;
}
