// What all threads of a block do together: stages in loops over the threads,
// and the branches and loops around barriers.
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

void ThreadEmitter::region(Block &block) {
  SmallVector<Operation *> stage;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || isa<qn::LaunchOp>(op))
      continue;
    if (model.waits(&op)) {
      flush(stage);
      stage.clear();
      together(&op);
    } else if (model.isShared(&op)) {
      sharedOperation(&op);
    } else {
      stage.push_back(&op);
    }
  }
  flush(stage);
}

void ThreadEmitter::sharedOperation(Operation *op) {
  if (shared.contains(op->getResult(0)))
    return;
  Location outer = std::exchange(loc, op->getLoc());
  Values results;
  if (auto size = dyn_cast<qn::SizeOp>(op)) {
    results = {
        words[packet.extentWord(model.kernel.axisNumber(size.getAxis()))]};
  } else if (auto number = dyn_cast<qn::BlockOp>(op)) {
    results = {blockNumber[static_cast<unsigned>(number.getDimension())]};
  } else if (auto table = dyn_cast<qn::LookupOp>(op)) {
    LaneScope inside(nullptr, Value());
    scope = &inside;
    results = {lookup(table).scalar};
    scope = nullptr;
  } else if (auto asked = dyn_cast<qn::RequireOp>(op)) {
    LaneScope inside(nullptr, Value());
    scope = &inside;
    results = {required(asked).scalar};
    scope = nullptr;
  } else if (isa<arith::ConstantOp>(op)) {
    results = {b.clone(*op)->getResult(0)};
  } else {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalarOf(operand));
    results = cloneWith(op, operands, 1);
  }
  for (auto [result, value] : llvm::zip(op->getResults(), results))
    shared[result] = value;
  loc = outer;
}

/// Runs a stage for every vector of threads, and keeps what later stages want.
void ThreadEmitter::flush(ArrayRef<Operation *> stage) {
  bool hasEffect = llvm::any_of(stage, [&](Operation *op) {
    return !isMemoryEffectFree(op) ||
           llvm::any_of(op->getResults(),
                        [&](Value v) { return model.isKept(v); });
  });
  bool isMemory = llvm::all_of(stage, [](Operation *op) {
    return isa<qn::SharedOp, qn::LocalOp>(op) || isMemoryEffectFree(op);
  });
  bool keeps = llvm::any_of(stage, [&](Operation *op) {
    return llvm::any_of(op->getResults(),
                        [&](Value v) { return model.isKept(v); });
  });
  if (!hasEffect || (isMemory && !keeps))
    return;
  threads([&] {
    for (Operation *op : stage)
      emit(op);
    for (Operation *op : stage)
      for (Value result : op->getResults())
        if (model.isKept(result))
          keep(result, get(result));
  });
}

void ThreadEmitter::together(Operation *op) {
  Location outer = std::exchange(loc, op->getLoc());
  if (auto branch = dyn_cast<scf::IfOp>(op))
    sharedIf(branch);
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    sharedFor(loop);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    sharedWhile(loop);
  else if (auto combine = dyn_cast<qn::CombineOp>(op))
    combineBlock(combine);
  else if (auto prefix = dyn_cast<qn::PrefixOp>(op))
    prefixBlock(prefix);
  loc = outer;
}

/// Of `values`, those whose counterparts in `like` all threads share.
ThreadEmitter::Values ThreadEmitter::sharedOnly(ValueRange like,
                                                ValueRange values) {
  Values found;
  for (auto [target, value] : llvm::zip(like, values))
    if (!model.differs(target))
      found.push_back(scalarOf(value));
  return found;
}

void ThreadEmitter::bindShared(ValueRange targets, ValueRange values) {
  auto next = values.begin();
  for (Value target : targets)
    if (!model.differs(target))
      shared[target] = *next++;
}

/// Copies values of threads to what stands for them next; all are read before
/// one is written.
void ThreadEmitter::keepOthers(ValueRange targets, ValueRange values) {
  bool isNeeded = llvm::any_of(llvm::zip(targets, values), [&](auto pair) {
    return model.differs(std::get<0>(pair)) &&
           std::get<0>(pair) != std::get<1>(pair);
  });
  if (!isNeeded)
    return;
  threads([&] {
    SmallVector<Lanes> given;
    for (auto [target, value] : llvm::zip(targets, values))
      given.push_back(model.differs(target) ? get(value) : Lanes());
    for (auto [target, value] : llvm::zip(targets, given))
      if (model.differs(target))
        keep(target, value);
  });
}

/// What decides about a barrier, as the first thread has it; an error of the
/// launch where another one has it otherwise.
Value ThreadEmitter::agreed(Value value, Operation *at) {
  if (!model.differs(value))
    return scalarOf(value);
  valid &= model.checkDivided(value, at);
  Type type = value.getType();
  Value first = reserve(type.isInteger(1) ? b.getI8Type() : type, 1);
  Type stored = type.isInteger(1) ? b.getI8Type() : type;
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  threads([&] {
    Lanes given = get(value);
    Value all = toMemory(vectorOf(given), type);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          vectorNumber, constant(0));
    guarded(isFirst, {}, [&]() -> Value {
      LLVM::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, all, 0),
                            first, bytes);
      return {};
    });
    Value known = LLVM::LoadOp::create(b, loc, stored, first, bytes);
    Value other = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, all,
                                        spread(known));
    guarded(anyLane(both(scope->mask, other)), {}, [&]() -> Value {
      record(sites.of(at, 0, "barrier", ErrorSite::Kind::Barrier), constant(0),
             constant(0));
      return {};
    });
  });
  Value known = LLVM::LoadOp::create(b, loc, stored, first, bytes);
  return fromMemory(known, type);
}

void ThreadEmitter::sharedIf(scf::IfOp op) {
  Value condition = agreed(op.getCondition(), op);
  SmallVector<Type> types;
  for (Value result : op.getResults())
    if (!model.differs(result))
      types.push_back(result.getType());
  auto side = [&](Block &source, bool) {
    region(source);
    auto yielded = source.getTerminator()->getOperands();
    keepOthers(op.getResults(), yielded);
    return sharedOnly(op.getResults(), yielded);
  };
  auto made = rebuiltIf(b, loc, op, types, condition, side);
  bindShared(op.getResults(), made.getResults());
}

void ThreadEmitter::sharedFor(scf::ForOp op) {
  Value lower = agreed(op.getLowerBound(), op);
  Value upper = agreed(op.getUpperBound(), op);
  Value step = agreed(op.getStep(), op);
  SmallVector<Value> arguments(op.getRegionIterArgs());
  keepOthers(arguments, op.getInitArgs());
  auto made = scf::ForOp::create(b, loc, lower, upper, step,
                                 sharedOnly(arguments, op.getInitArgs()));
  {
    OpBuilder::InsertionGuard guard(b);
    enter(b, made.getBody());
    shared[op.getInductionVar()] = made.getInductionVar();
    bindShared(arguments, made.getRegionIterArgs());
    region(*op.getBody());
    keepOthers(arguments, op.getYieldedValues());
    scf::YieldOp::create(b, loc, sharedOnly(arguments, op.getYieldedValues()));
  }
  // The last round's values stay where the arguments are.
  for (auto [result, argument] : llvm::zip(op.getResults(), arguments))
    if (model.differs(result))
      slots[result] = slotOf(argument);
  bindShared(op.getResults(), made.getResults());
}

/// The first block of a region, where code goes from now on.
Block *ThreadEmitter::begin(Region &region, TypeRange types) {
  return b.createBlock(&region, {}, types,
                       SmallVector<Location>(types.size(), loc));
}

void ThreadEmitter::sharedWhile(scf::WhileOp op) {
  scf::ConditionOp test = op.getConditionOp();
  SmallVector<Value> before(op.getBeforeArguments());
  SmallVector<Value> after(op.getAfterArguments());
  keepOthers(before, op.getInits());
  Values states = sharedOnly(before, op.getInits());
  SmallVector<Type> types(ValueRange(states).getTypes()), handed;
  for (Value result : op.getResults())
    if (!model.differs(result))
      handed.push_back(result.getType());
  auto made = scf::WhileOp::create(b, loc, handed, states);
  OpBuilder::InsertionGuard guard(b);
  Block *head = begin(made.getBefore(), types);
  bindShared(before, head->getArguments());
  region(op.getBefore().front());
  Value goes = agreed(test.getCondition(), op);
  keepOthers(after, test.getArgs());
  scf::ConditionOp::create(b, loc, goes, sharedOnly(after, test.getArgs()));
  Block *body = begin(made.getAfter(), handed);
  bindShared(after, body->getArguments());
  region(op.getAfter().front());
  keepOthers(before, op.getYieldOp().getOperands());
  scf::YieldOp::create(b, loc,
                       sharedOnly(before, op.getYieldOp().getOperands()));
  for (auto [result, argument] : llvm::zip(op.getResults(), after))
    if (model.differs(result))
      slots[result] = slotOf(argument);
  bindShared(op.getResults(), made.getResults());
}

/// Vectors of threads one after the other, so that the order is that of the
/// threads.
void ThreadEmitter::combineBlock(qn::CombineOp op) {
  Values totals;
  for (Value init : op.getInits()) {
    Value value = scalarOf(init);
    totals.push_back(reserve(toMemory(value, init.getType()).getType(), 1));
    LLVM::StoreOp::create(b, loc, toMemory(value, init.getType()),
                          totals.back());
  }
  auto current = [&] {
    Values values;
    for (auto [total, init] : llvm::zip(totals, op.getInits())) {
      Type stored = toMemory(zero(init.getType()), init.getType()).getType();
      values.push_back(fromMemory(LLVM::LoadOp::create(b, loc, stored, total),
                                  init.getType()));
    }
    return values;
  };
  threads([&] {
    Values inits;
    for (Value init : op.getInits())
      inits.push_back(vectorOf(get(init)));
    Values states = combineLanes(
        op.getMerge(), statesOf(op.getValues(), op.getInits()), inits);
    Values pair = current();
    llvm::append_range(pair, states);
    for (auto [total, value, init] :
         llvm::zip(totals, inlined(op.getMerge(), pair), op.getInits()))
      LLVM::StoreOp::create(b, loc, toMemory(value, init.getType()), total);
  });
  for (auto [result, value] : llvm::zip(op.getResults(), current()))
    shared[result] = value;
}

void ThreadEmitter::prefixBlock(qn::PrefixOp op) {
  bool reverse = op.getReverse();
  Values totals;
  for (Value init : op.getInits()) {
    Value value = toMemory(scalarOf(init), init.getType());
    totals.push_back(reserve(value.getType(), 1));
    LLVM::StoreOp::create(b, loc, value, totals.back());
  }
  isReversed = reverse;
  threads([&] {
    Values inits, carried;
    for (auto [init, total] : llvm::zip(op.getInits(), totals)) {
      inits.push_back(vectorOf(get(init)));
      Type stored = toMemory(zero(init.getType()), init.getType()).getType();
      carried.push_back(spread(fromMemory(
          LLVM::LoadOp::create(b, loc, stored, total), init.getType())));
    }
    Values states = prefixLanes(
        op.getMerge(), statesOf(op.getValues(), op.getInits()), reverse);
    Values pair = carried;
    llvm::append_range(pair, states);
    Values merged = inlined(op.getMerge(), pair);
    Values shown =
        op.getExclusive() ? shifted(merged, carried, reverse ? -1 : 1) : merged;
    for (auto [result, value] : llvm::zip(op.getResults(), shown))
      keep(result, {{}, 0, value});
    for (auto [total, value, init] : llvm::zip(totals, merged, op.getInits())) {
      Value last =
          vector::ExtractOp::create(b, loc, value, reverse ? 0 : lanes - 1);
      LLVM::StoreOp::create(b, loc, toMemory(last, init.getType()), total);
    }
  });
  isReversed = false;
}
