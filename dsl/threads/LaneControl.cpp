// What a vector of threads does: operations in order, branches and loops under
// masks.
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

void ThreadEmitter::emit(Operation *op) {
  Location outer = std::exchange(loc, op->getLoc());
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Lanes condition = get(branch.getCondition());
    if (auto known = decided.find(branch.getCondition());
        known != decided.end())
      decidedIf(branch, known->second);
    else if (condition.isUniform())
      uniformIf(branch, condition.scalar);
    else
      dividedIf(branch, vectorOf(condition));
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    countedLoop(loop);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    whileLoop(loop);
  } else if (auto write = dyn_cast<qn::WriteOp>(op)) {
    this->write(write);
  } else if (auto combine = dyn_cast<qn::CombineOp>(op)) {
    combineWarp(combine);
  } else if (auto prefix = dyn_cast<qn::PrefixOp>(op)) {
    prefixWarp(prefix);
  } else if (!isa<qn::BarrierOp, qn::SharedOp, qn::LocalOp, qn::LaunchOp>(op)) {
    // The lanes of a warp run in step: its barrier needs no code.
    for (unsigned result = 0; result < op->getNumResults(); ++result) {
      if (scope->values.contains(op->getResult(result)))
        continue;
      set(op->getResult(result), make(op, result));
    }
  }
  loc = outer;
}

Lanes ThreadEmitter::make(Operation *op, unsigned result) {
  if (auto known = decided.find(op->getResult(result)); known != decided.end())
    return {constant(known->second, b.getI1Type()), 0, {}};
  if (isa<arith::ConstantOp>(op))
    return {b.clone(*op)->getResult(0), 0, {}};
  if (auto thread = dyn_cast<qn::ThreadOp>(op))
    return threadNumber(thread);
  if (auto block = dyn_cast<qn::BlockOp>(op))
    return {blockNumber[static_cast<unsigned>(block.getDimension())], 0, {}};
  if (isa<qn::LaneOp>(op))
    return {constant(0), lanes > 1 ? 1 : 0, {}};
  if (auto size = dyn_cast<qn::SizeOp>(op))
    return {words[packet.extentWord(model.kernel.axisNumber(size.getAxis()))],
            0,
            {}};
  if (auto read = dyn_cast<qn::ReadOp>(op))
    return this->read(read);
  if (auto atomic = dyn_cast<qn::AtomicOp>(op))
    return this->atomic(atomic);
  if (auto shuffle = dyn_cast<qn::ShuffleOp>(op))
    return this->shuffle(shuffle);
  if (auto ballot = dyn_cast<qn::BallotOp>(op))
    return this->ballot(ballot);
  if (auto vote = dyn_cast<qn::VoteOp>(op))
    return this->vote(vote);
  if (auto lookup = dyn_cast<qn::LookupOp>(op))
    return this->lookup(lookup);
  if (auto asked = dyn_cast<qn::RequireOp>(op))
    return required(asked);
  SmallVector<Lanes> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  if (!OpTrait::hasElementwiseMappableTraits(op)) {
    if (valid)
      op->emitError() << "'" << op->getName()
                      << "' has no meaning in a `kernel`";
    valid = false;
    return {zero(op->getResult(result).getType()), 0, {}};
  }
  SmallVector<Lanes> made = elementwise(op, operands);
  for (auto [value, of] : llvm::zip(op->getResults(), made))
    set(value, of);
  return made[result];
}

Type ThreadEmitter::argumentType(Value like) {
  return model.hasLanes(like) ? wide(like.getType()) : like.getType();
}

/// `value` as a result or argument that stands for `like` is.
Value ThreadEmitter::asArgument(Value like, Value value) {
  Lanes given = get(value);
  if (model.hasLanes(like))
    return vectorOf(given);
  assert(given.isUniform() && "a value that differs where it must not");
  return given.scalar;
}

void ThreadEmitter::bindArgument(Value like, Value value) {
  if (model.hasLanes(like))
    set(like, {{}, 0, value});
  else
    set(like, {value, 0, {}});
}

/// Runs a region's operations under `mask`, then `finish` in their scope; the
/// builder stands in the region already.
void ThreadEmitter::arm(Block &block, Value mask,
                        llvm::function_ref<void()> finish) {
  LaneScope inside(scope, mask);
  scope = &inside;
  for (Operation &op : block.without_terminator())
    emit(&op);
  finish();
  scope = inside.outer;
}

/// The side that is known to be taken.
void ThreadEmitter::decidedIf(scf::IfOp op, bool isTaken) {
  Region &side = isTaken ? op.getThenRegion() : op.getElseRegion();
  if (side.empty())
    return;
  SmallVector<Lanes> values;
  arm(side.front(), scope->mask, [&] {
    for (Value value : side.front().getTerminator()->getOperands())
      values.push_back(get(value));
  });
  for (auto [result, value] : llvm::zip(op.getResults(), values))
    set(result, value);
}

void ThreadEmitter::uniformIf(scf::IfOp op, Value condition) {
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(argumentType(result));
  auto side = [&](Block &source, bool) {
    Values values;
    arm(source, scope->mask, [&] {
      for (auto [result, value] :
           llvm::zip(op.getResults(), source.getTerminator()->getOperands()))
        values.push_back(asArgument(result, value));
    });
    return values;
  };
  auto made = rebuiltIf(b, loc, op, types, condition, side);
  for (auto [result, value] : llvm::zip(op.getResults(), made.getResults()))
    bindArgument(result, value);
}

/// Few operations without effects, and reads that are in range whatever the
/// branch around them decides.
bool ThreadEmitter::isHarmless(Block &block, Operation *at) const {
  constexpr unsigned few = 8;
  unsigned count = 0;
  for (Operation &op : block.without_terminator()) {
    if (++count > few || op.getNumRegions())
      return false;
    auto read = dyn_cast<qn::ReadOp>(op);
    if (!read && !isMemoryEffectFree(&op))
      return false;
    if (!read)
      continue;
    auto memory = dyn_cast<MemRefType>(read.getPlace().getType());
    if (!read.getChecked() || !memory)
      return false;
    for (auto [index, extent] : llvm::zip(read.getIndices(), memory.getShape()))
      if (!model.ranges.isInside(index, "", extent, at))
        return false;
  }
  return true;
}

/// Both sides, for all lanes.
void ThreadEmitter::speculate(scf::IfOp op, Value condition) {
  std::array<Values, 2> sides;
  for (unsigned side : {0, 1}) {
    Block *block = side ? op.elseBlock() : op.thenBlock();
    arm(*block, scope->mask, [&] {
      for (Value value : block->getTerminator()->getOperands())
        sides[side].push_back(vectorOf(get(value)));
    });
  }
  for (auto [result, yes, no] : llvm::zip(op.getResults(), sides[0], sides[1]))
    set(result, {{}, 0, arith::SelectOp::create(b, loc, condition, yes, no)});
}

/// Each side runs where at least one lane takes it.
void ThreadEmitter::dividedIf(scf::IfOp op, Value condition) {
  if (op.getNumResults() && isHarmless(*op.thenBlock(), op) &&
      isHarmless(*op.elseBlock(), op))
    return speculate(op, condition);
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(wide(result.getType()));
  auto side = [&](Block &source, Value mask) {
    auto operands = source.getTerminator()->getOperands();
    Values values;
    if (llvm::hasSingleElement(source)) {
      for (Value value : operands)
        values.push_back(vectorOf(get(value)));
      return values;
    }
    auto made = scf::IfOp::create(b, loc, types, anyLane(mask), !types.empty());
    OpBuilder::InsertionGuard guard(b);
    enter(b, made.thenBlock());
    arm(source, mask, [&] {
      Values inner;
      for (Value value : operands)
        inner.push_back(vectorOf(get(value)));
      scf::YieldOp::create(b, loc, inner);
    });
    if (!types.empty()) {
      b.setInsertionPointToEnd(made.elseBlock());
      Values none;
      for (Type type : types)
        none.push_back(zero(type));
      scf::YieldOp::create(b, loc, none);
    }
    return Values(made.getResults());
  };
  Values yes = side(*op.thenBlock(), both(scope->mask, condition));
  Values no;
  if (!op.getElseRegion().empty())
    no = side(*op.elseBlock(), without(scope->mask, condition));
  for (auto [result, left, right] : llvm::zip(op.getResults(), yes, no))
    set(result,
        {{}, 0, arith::SelectOp::create(b, loc, condition, left, right)});
}

/// The states a loop begins with: those of the text; where lanes leave one by
/// one also what the condition last handed on, and who is left.
ThreadEmitter::Values ThreadEmitter::whileStates(scf::WhileOp op,
                                                 bool divided) {
  Values states;
  for (auto [argument, init] :
       llvm::zip(op.getBeforeArguments(), op.getInits()))
    states.push_back(asArgument(argument, init));
  if (!divided)
    return states;
  for (Value result : op.getResults())
    states.push_back(zero(argumentType(result)));
  states.push_back(
      spread(scope->mask ? scope->mask : constant(1, b.getI1Type())));
  return states;
}

/// The condition of a loop; lanes that have left keep what they were handed.
void ThreadEmitter::whileTest(scf::WhileOp op, ValueRange arguments,
                              bool divided) {
  scf::ConditionOp test = op.getConditionOp();
  std::size_t own = op.getInits().size();
  LaneScope around(scope, divided ? arguments.back() : scope->mask);
  scope = &around;
  for (auto [argument, value] : llvm::zip(op.getBeforeArguments(), arguments))
    bindArgument(argument, value);
  arm(op.getBefore().front(), around.mask, [&] {
    Lanes condition = get(test.getCondition());
    Values forward;
    if (divided)
      llvm::append_range(forward, arguments.take_front(own));
    for (auto [number, result] : llvm::enumerate(op.getResults())) {
      Value now = asArgument(result, test.getArgs()[number]);
      if (divided)
        now = arith::SelectOp::create(b, loc, around.mask, now,
                                      arguments[own + number]);
      forward.push_back(now);
    }
    Value goes =
        divided ? both(around.mask, vectorOf(condition)) : condition.scalar;
    if (divided)
      forward.push_back(goes);
    scf::ConditionOp::create(b, loc, anyLane(goes), forward);
  });
  scope = around.outer;
}

/// A round of a loop.
void ThreadEmitter::whileRound(scf::WhileOp op, ValueRange arguments,
                               bool divided) {
  std::size_t own = op.getInits().size();
  ValueRange results =
      divided ? arguments.drop_front(own).drop_back() : arguments;
  LaneScope body(scope, divided ? arguments.back() : scope->mask);
  scope = &body;
  for (auto [argument, value] : llvm::zip(op.getAfterArguments(), results))
    bindArgument(argument, value);
  arm(op.getAfter().front(), body.mask, [&] {
    Values next;
    for (auto [number, value] :
         llvm::enumerate(op.getYieldOp().getOperands())) {
      Value now = asArgument(op.getBeforeArguments()[number], value);
      if (divided)
        now =
            arith::SelectOp::create(b, loc, body.mask, now, arguments[number]);
      next.push_back(now);
    }
    if (divided)
      llvm::append_range(next, arguments.drop_front(own).drop_back());
    if (divided)
      next.push_back(body.mask);
    scf::YieldOp::create(b, loc, next);
  });
  scope = body.outer;
}

void ThreadEmitter::whileLoop(scf::WhileOp op) {
  bool divided = model.hasLanes(op.getConditionOp().getCondition());
  std::size_t own = op.getInits().size();
  Values states = whileStates(op, divided);
  SmallVector<Type> types(ValueRange(states).getTypes()), handed;
  for (Value result : op.getResults())
    handed.push_back(argumentType(result));
  if (divided)
    handed = types;
  auto made = scf::WhileOp::create(b, loc, handed, states);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = begin(made.getBefore(), types);
    whileTest(op, before->getArguments(), divided);
    Block *after = begin(made.getAfter(), handed);
    whileRound(op, after->getArguments(), divided);
  }
  ValueRange last = made.getResults();
  if (divided)
    last = last.drop_front(own).drop_back();
  for (auto [result, value] : llvm::zip(op.getResults(), last))
    bindArgument(result, value);
}
