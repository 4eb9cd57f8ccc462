// `kernel` text: how it is launched, who a thread is, and what threads do
// together.
#include "dsl/irgen/Assigned.h"
#include "dsl/irgen/Generator.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::Builtin;

/// `launch` stands in the outermost block; what it says holds from the first
/// statement on.
void Generator::executeLaunch() {
  const typed::LaunchStatement *launch = nullptr;
  for (const typed::Statement *statement : frame->declaration.body)
    if (const auto *found = llvm::dyn_cast<typed::LaunchStatement>(statement))
      launch = found;
  assert(launch && "the checker wants a launch");
  for (typed::Expressions extents : {launch->grid, launch->block}) {
    for (const Expression *extent : extents)
      geometry.push_back(toIndex(scalar(*extent)));
    geometry.append(3 - extents.size(), index(1));
  }
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
    return Scalar{
        ElementType::U64,
        b.create<qn::BallotOp>(builder.getI64Type(), operands.front().value),
        nullptr};
  case Builtin::VoteAny:
  case Builtin::VoteAll: {
    auto kind = expression.builtin == Builtin::VoteAny ? qn::VoteKind::any
                                                       : qn::VoteKind::all;
    return Scalar{
        ElementType::Bool,
        b.create<qn::VoteOp>(builder.getI1Type(), kind, operands.front().value),
        nullptr};
  }
  default:
    break;
  }
  Scalar value = operands.front();
  auto shuffled = [&](mlir::Value part) -> mlir::Value {
    return b.create<qn::ShuffleOp>(part.getType(),
                                   shuffleKind(expression.builtin), part,
                                   toIndex(operands[1]));
  };
  return Scalar{value.type, shuffled(value.value),
                value.isComplex() ? shuffled(value.imaginary) : nullptr};
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

/// A `for` whose step is known becomes a counted loop; others, and those that
/// return, go the general way.
bool Generator::executeCounted(const typed::ForStatement &statement) {
  SmallVector<const Variable *, 4> assigned;
  bool returns = collectAssigned(statement.body, assigned);
  auto step =
      statement.step ? known(*statement.step) : typed::Constant::ofInteger(1);
  if (returns || !step || step->integer == 0)
    return false;
  llvm::erase_if(assigned, [&](const Variable *variable) {
    return frame->binding(*variable).kind == Binding::Kind::Unset;
  });
  auto bound = [&](const Expression *expression) {
    return expression ? b.cast(scalar(*expression), ElementType::I64)
                      : b.integer(ElementType::I64, 0);
  };
  Scalar lower = bound(statement.lower), upper = bound(statement.upper);
  Scalar first = lower, stride = b.integer(ElementType::I64, step->integer);
  bool isBackward = step->integer < 0;
  if (isBackward) { // counts from 0 in steps the other way
    stride = b.integer(ElementType::I64, -step->integer);
    upper = b.subtract(lower, upper);
    lower = b.integer(ElementType::I64, 0);
  }
  at(statement.span);
  Location location = b.location;
  Values initial;
  for (const Variable *variable : assigned)
    initial.push_back(current(*variable));
  auto loop = b.create<scf::ForOp>(lower.value, upper.value, stride.value,
                                   flatten(initial));
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
  if (isBackward)
    counter = b.subtract(first, counter);
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
