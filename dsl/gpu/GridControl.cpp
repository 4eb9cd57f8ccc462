// Control flow of a thread, and which lanes of its warp are where.
#include "dsl/gpu/GridEmitter.h"
#include "dsl/lower/LoopHints.h"

#include "dsl/dialect/Behind.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

void GridEmitter::block(Block &from) {
  for (Operation &op : from)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      emit(&op);
}

void GridEmitter::emit(Operation *op) {
  Location outer = std::exchange(loc, op->getLoc());
  if (auto launch = dyn_cast<qn::LaunchOp>(op))
    findThread(launch);
  else if (auto choice = dyn_cast<scf::IfOp>(op))
    branch(choice);
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    countedLoop(loop);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    whileLoop(loop);
  else if (auto stored = dyn_cast<qn::WriteOp>(op))
    write(stored);
  else if (auto barrier = dyn_cast<qn::BarrierOp>(op))
    barrier.getScope() == qn::Scope::block ? device.barrier(loc)
                                           : device.warpBarrier(loc, here.set);
  else if (auto neighbours = dyn_cast<qn::CopyOp>(op))
    copy(neighbours);
  else if (auto product = dyn_cast<qn::MultiplyTileOp>(op))
    multiplyTile(product);
  else if (isa<qn::CommitCopiesOp>(op))
    device.commitCopies(loc);
  else if (auto wait = dyn_cast<qn::AwaitCopiesOp>(op))
    device.awaitCopies(loc, wait.getOpen());
  else if (auto all = dyn_cast<qn::CombineOp>(op))
    combine(all);
  else if (auto upTo = dyn_cast<qn::PrefixOp>(op))
    prefix(upTo);
  else if (Value made = single(op))
    values[op->getResult(0)] = made;
  else
    plain(op);
  loc = outer;
}

/// Operations of this dialect with one result; null for others.
Value GridEmitter::single(Operation *op) {
  if (Value number = special(op))
    return number;
  if (auto array = dyn_cast<qn::SharedOp>(op))
    return sharedBase(shared.find(op)->second);
  if (auto array = dyn_cast<qn::LocalOp>(op))
    return localArray(array);
  if (auto element = dyn_cast<qn::ReadOp>(op))
    return read(element);
  if (auto update = dyn_cast<qn::AtomicOp>(op))
    return atomic(update);
  if (auto other = dyn_cast<qn::ShuffleOp>(op))
    return shuffle(other);
  if (auto holds = dyn_cast<qn::BallotOp>(op)) {
    Value set = device.ballot(loc, here.set, get(holds.getCondition()));
    return target.warp == 64
               ? set
               : Value(arith::ExtUIOp::create(b, loc, b.getI64Type(), set));
  }
  if (auto some = dyn_cast<qn::VoteOp>(op))
    return vote(some);
  if (auto table = dyn_cast<qn::LookupOp>(op))
    return lookup(table);
  if (auto asked = dyn_cast<qn::RequireOp>(op))
    return required(asked);
  return {};
}

/// Whether lanes of a warp go different ways in `op`, and the warp works
/// together somewhere inside.
bool GridEmitter::partsWarp(Operation *op, ValueRange deciders) const {
  if (model.waits(op) || llvm::none_of(deciders, [&](Value value) {
        return model.hasLanes(value);
      }))
    return false;
  auto found = op->walk([](Operation *inner) {
    bool isTogether = isa<qn::ShuffleOp, qn::BallotOp, qn::VoteOp,
                          qn::BarrierOp, qn::CombineOp, qn::PrefixOp>(inner);
    return isTogether ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

Value GridEmitter::hereOrAll() {
  return here.set ? here.set : constant(-1, device.laneSet());
}

/// What decides about `op`: all threads have it alike where they wait inside.
Value GridEmitter::decided(Value value, Operation *op) {
  return model.waits(op) && model.differs(value) ? agreed(value, op)
                                                 : get(value);
}

/// What decides about a barrier, as the first thread has it; an error of the
/// launch where another one has it otherwise.
Value GridEmitter::agreed(Value value, Operation *op) {
  valid &= model.checkDivided(value, op);
  Type type = value.getType(), word = b.getI64Type();
  Value own = get(value);
  if (type != word)
    own = arith::ExtUIOp::create(b, loc, word, own);
  Value slot = sharedBase(*decision);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        thread, short32(0));
  guarded(isFirst, {}, [&]() -> Value {
    LLVM::StoreOp::create(b, loc, own, slot, 8);
    return {};
  });
  device.barrier(loc);
  Value first = LLVM::LoadOp::create(b, loc, word, slot, 8);
  // It is written again only when all have read it.
  device.barrier(loc);
  Value differs =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own, first);
  guarded(differs, {}, [&]() -> Value {
    record(sites.of(op, 0, "barrier", ErrorSite::Kind::Barrier), constant(0),
           constant(0));
    return {};
  });
  if (type != word)
    first = arith::TruncIOp::create(b, loc, type, first);
  return first;
}

void GridEmitter::branch(scf::IfOp op) {
  Value condition = decided(op.getCondition(), op);
  LanesHere around = here;
  bool parts = partsWarp(op, op.getCondition());
  Value all, taken;
  if (parts && target.kind == TargetKind::Nvptx) {
    all = hereOrAll();
    taken = device.ballot(loc, all, condition);
  }
  auto side = [&](Block &source, bool isElse) {
    if (parts) {
      here = {taken, true};
      if (isElse && taken)
        here.set = arith::XOrIOp::create(b, loc, all, taken);
    }
    block(source);
    return getAll(source.getTerminator()->getOperands());
  };
  auto made = rebuiltIf(b, loc, op, op.getResultTypes(), condition, side);
  here = around;
  for (auto [result, value] : llvm::zip(op.getResults(), made.getResults()))
    values[result] = value;
}

/// Whether a value is computed from `other` by plain arithmetic.
static bool dependsOn(Value value, Value other) {
  return !holdsBehind(value, [&](Value each) {
    Operation *op = each.getDefiningOp();
    if (each == other)
      return Found::No;
    return op && op->getNumRegions() == 0 ? Found::IfBehind : Found::Yes;
  });
}

/// Whether a loop of known rounds is written out: it goes along an array of the
/// thread's own, which is in registers only where every place is known, or has
/// a few copies, whose places then are steps from one to the next.
static bool isWrittenOut(scf::ForOp op) {
  constexpr std::int64_t mostRounds = 128, mostCopies = 8;
  APInt low, high, step;
  if (!matchPattern(op.getLowerBound(), m_ConstantInt(&low)) ||
      !matchPattern(op.getUpperBound(), m_ConstantInt(&high)) ||
      !matchPattern(op.getStep(), m_ConstantInt(&step)) ||
      (high - low).sgt(step.getSExtValue() * mostRounds))
    return false;
  auto isAlong = [&](Value place, ValueRange indices) {
    auto memory = dyn_cast<MemRefType>(place.getType());
    return memory && memory.getMemorySpaceAsInt() == 5 &&
           llvm::any_of(indices, [&](Value index) {
             return dependsOn(index, op.getInductionVar());
           });
  };
  auto found = op.getBody()->walk([&](Operation *inner) {
    auto read = dyn_cast<qn::ReadOp>(inner);
    auto write = dyn_cast<qn::WriteOp>(inner);
    auto copy = dyn_cast<qn::CopyOp>(inner);
    bool isFew = (high - low).sle(step.getSExtValue() * mostCopies);
    bool is = (copy && copy.getIsAsync() && isFew) ||
              (read && isAlong(read.getPlace(), read.getIndices())) ||
              (write && isAlong(write.getPlace(), write.getIndices()));
    return is ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

void GridEmitter::countedLoop(scf::ForOp op) {
  Value bounds[] = {op.getLowerBound(), op.getUpperBound(), op.getStep()};
  if (partsWarp(op, bounds))
    return partingLoop(op);
  Values own;
  for (Value bound : bounds)
    own.push_back(decided(bound, op));
  auto made = scf::ForOp::create(b, loc, own[0], own[1], own[2],
                                 getAll(op.getInitArgs()), nullptr,
                                 op.getUnsignedCmp());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (isWrittenOut(op))
    fullyUnroll(made);
  {
    OpBuilder::InsertionGuard guard(b);
    enter(b, made.getBody());
    values[op.getInductionVar()] = made.getInductionVar();
    for (auto [argument, value] :
         llvm::zip(op.getRegionIterArgs(), made.getRegionIterArgs()))
      values[argument] = value;
    block(*op.getBody());
    scf::YieldOp::create(b, loc, getAll(op.getYieldedValues()));
  }
  for (auto [result, value] : llvm::zip(op.getResults(), made.getResults()))
    values[result] = value;
}

/// A loop that lanes leave one by one: the lanes that go on are counted anew
/// each round.
void GridEmitter::partingLoop(scf::ForOp op) {
  Value first = get(op.getLowerBound()), end = get(op.getUpperBound());
  Value step = get(op.getStep());
  Values inits{first};
  llvm::append_range(inits, getAll(op.getInitArgs()));
  bool counts = target.kind == TargetKind::Nvptx;
  if (counts)
    inits.push_back(hereOrAll());
  SmallVector<Type> types(ValueRange(inits).getTypes());
  SmallVector<Location> places(types.size(), loc);
  LanesHere around = here;
  auto made = scf::WhileOp::create(b, loc, types, inits);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&made.getBefore(), {}, types, places);
    Values on(before->getArguments());
    Value goes =
        arith::CmpIOp::create(b, loc,
                              op.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                              on[0], end);
    if (counts)
      on.back() = device.ballot(loc, on.back(), goes);
    scf::ConditionOp::create(b, loc, goes, on);
    Block *after = b.createBlock(&made.getAfter(), {}, types, places);
    values[op.getInductionVar()] = after->getArgument(0);
    for (auto [argument, value] :
         llvm::zip(op.getRegionIterArgs(), after->getArguments().drop_front()))
      values[argument] = value;
    here = {counts ? Value(after->getArguments().back()) : Value(), true};
    Value set = here.set;
    block(*op.getBody());
    Values next{arith::AddIOp::create(b, loc, after->getArgument(0), step)};
    llvm::append_range(next, getAll(op.getYieldedValues()));
    if (counts)
      next.push_back(set);
    scf::YieldOp::create(b, loc, next);
  }
  here = around;
  for (auto [result, value] :
       llvm::zip(op.getResults(), made.getResults().drop_front()))
    values[result] = value;
}

void GridEmitter::whileLoop(scf::WhileOp op) {
  scf::ConditionOp test = op.getConditionOp();
  bool parts = partsWarp(op, test.getCondition());
  bool counts = parts && target.kind == TargetKind::Nvptx;
  LanesHere around = here;
  Values inits = getAll(op.getInits());
  SmallVector<Type> handed(op.getResultTypes());
  if (counts) {
    inits.push_back(hereOrAll());
    handed.push_back(device.laneSet());
  }
  SmallVector<Type> types(ValueRange(inits).getTypes());
  auto made = scf::WhileOp::create(b, loc, handed, inits);
  auto enter = [&](Region &region, ArrayRef<Type> own, ValueRange arguments) {
    Block *into =
        b.createBlock(&region, {}, own, SmallVector<Location>(own.size(), loc));
    for (auto [argument, value] : llvm::zip(arguments, into->getArguments()))
      values[argument] = value;
    if (parts)
      here = {counts ? Value(into->getArguments().back()) : Value(), true};
  };
  {
    OpBuilder::InsertionGuard guard(b);
    enter(made.getBefore(), types, op.getBeforeArguments());
    block(op.getBefore().front());
    Value goes = decided(test.getCondition(), op);
    Values on = getAll(test.getArgs());
    if (counts)
      on.push_back(device.ballot(loc, here.set, goes));
    scf::ConditionOp::create(b, loc, goes, on);
    enter(made.getAfter(), handed, op.getAfterArguments());
    Value set = here.set;
    block(op.getAfter().front());
    Values next = getAll(op.getYieldOp().getOperands());
    if (counts)
      next.push_back(set);
    scf::YieldOp::create(b, loc, next);
  }
  here = around;
  for (auto [result, value] : llvm::zip(op.getResults(), made.getResults()))
    values[result] = value;
}

/// A region's operations on whatever its arguments are here.
GridEmitter::Values GridEmitter::inlined(Region &region, ValueRange arguments) {
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    values[argument] = value;
  block(region.front());
  return getAll(region.front().getTerminator()->getOperands());
}
