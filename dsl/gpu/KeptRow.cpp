// Rows that the threads of a team keep: every loop along such a row goes over
// the same vectors, and what it makes of those in registers is there for the
// next. Vectors in shared memory are read by the thread that has left them.
#include "dsl/gpu/Device.h"
#include "dsl/gpu/Registers.h"
#include "dsl/lower/Emitter.h"
#include "dsl/lower/LoopHints.h"
#include "dsl/schedule/StagedSlots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

namespace quern {

/// One loop along a row.
class KeptRow {
public:
  using Values = Emitter::Values;
  using Body = Emitter::Body;

  KeptRow(Emitter &emitter, Frame &frame, const LoopSpec &loop)
      : emitter(emitter), team(*emitter.team), kept(team.kept),
        device(*team.device), frame(frame), loop(loop), axis(loop.plan.axis),
        lanes(loop.plan.lanes), loc(emitter.model.kernel.getLoc()),
        b(emitter.builder) {
    findEnds();
  }

  void walk(Values &states, Body body) {
    if (!frame.cells || !frame.cells->front().find(axis))
      keep();
    walkCells(states, body);
    if (kept.sharedLanes)
      walkShared(states, body);
  }

private:
  Value number(std::int64_t value) { return emitter.constant(frame, value); }
  Value wide(Value value) {
    emitter.in(frame);
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  }
  Value plus(Value left, Value right) {
    emitter.in(frame);
    return arith::AddIOp::create(b, loc, left, right);
  }
  Value minus(Value left, Value right) {
    emitter.in(frame);
    return arith::SubIOp::create(b, loc, left, right);
  }
  Value times(Value value, std::int64_t factor) {
    Value by = number(factor);
    emitter.in(frame);
    return arith::MulIOp::create(b, loc, value, by);
  }
  Value both(Value value, std::int64_t bits) {
    Value mask = number(bits);
    emitter.in(frame);
    return arith::AndIOp::create(b, loc, value, mask);
  }

  void findEnds();
  void keep();
  void addCell(Value at, unsigned width, Value inRange);
  void addCells();
  void addEdges();
  void fetch(MutableArrayRef<Frame> cells, AxisSet others);
  void walkCells(Values &states, Body body);

  /// A row's operand in shared memory, so many bytes from where that begins.
  struct Slot {
    BlockArgument operand;
    unsigned bytes; ///< of an element
    std::int64_t first;
  };
  SmallVector<Slot> slots() const;
  Value placeOf(const Slot &slot, Value local);
  Value heldIn(const Slot &slot) const;
  bool isMade(qn::ReduceOp op) const;
  bool reaches(Value from, Value cut) const;
  Value successorOf(Frame &inner, const Slot &slot) const;
  void leaveMade(Frame &inner, const Slot &slot, Value local, Value made);
  void leave(Frame &inner, const Slot &slot, Value local);
  void walkVectors(Values &states,
                   llvm::function_ref<void(Frame &, Value, Values &)> body,
                   bool isLong);
  void walkShared(Values &states, Body body);

  Emitter &emitter;
  const Team &team;
  const KeptRows &kept;
  Device &device;
  Frame &frame;
  const LoopSpec &loop;
  unsigned axis, lanes;
  Location loc;
  OpBuilder &b;
  Value begin, end; ///< of the whole vectors
};

} // namespace quern

/// A loop over all of an axis. The entry is meant for rows that fit.
bool Emitter::isKeptRow(Frame &frame, const LoopSpec &loop) {
  return team->kept.cells && !model.localAxis(loop.plan.axis) &&
         loop.plan.lanes == team->vectors && !loop.reverse &&
         loop.lower == constant(frame, 0) &&
         loop.upper == extent(frame, loop.plan.axis);
}

void Emitter::keptRow(Frame &frame, const LoopSpec &loop, Values &states,
                      Body body) {
  KeptRow(*this, frame, loop).walk(states, body);
}

/// A row that begins within a vector has a few elements before the first whole
/// one, and may have some behind the last.
void KeptRow::findEnds() {
  begin = loop.lower, end = loop.upper;
  if (!kept.phaseOf)
    return;
  auto operand = cast<BlockArgument>(kept.phaseOf);
  auto type = cast<qn::OperandType>(operand.getType());
  AxisSet outer = emitter.model.axesOf(type) & emitter.launch->parallel;
  Value at = emitter.address(frame, operand, outer, 0);
  unsigned bytes = storedBytes(type.getElementType());
  emitter.in(frame);
  at = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), at);
  Value log = number(llvm::Log2_32(bytes));
  emitter.in(frame);
  at = arith::ShRUIOp::create(b, loc, at, log);
  begin = both(minus(number(0), at), lanes - 1);
  begin = arith::MinUIOp::create(b, loc, begin, loop.upper);
  end = plus(begin, both(minus(loop.upper, begin), -std::int64_t(lanes)));
}

/// All that is kept is under way at once.
void KeptRow::keep() {
  frame.cells = std::make_shared<std::vector<Frame>>();
  addCells();
  if (kept.phaseOf)
    addEdges();
  fetch(*frame.cells, emitter.launch->parallel);
  if (!kept.sharedLanes)
    return;
  SmallVector<Slot> all = slots();
  Values none;
  walkVectors(
      none,
      [&](Frame &inner, Value local, Values &) {
        for (const Slot &slot : all)
          leave(inner, slot, local);
      },
      /*isLong=*/false);
  emitter.in(frame);
  device.commitCopies(loc);
}

void KeptRow::addCell(Value at, unsigned width, Value inRange) {
  Frame cell = Frame::inside(frame, frame.block);
  cell.anchor = frame.anchor;
  cell.bind(
      Binding{.axis = axis, .position = at, .lanes = width, .shared = true});
  cell.inRange = inRange;
  cell.guards = true;
  frame.cells->push_back(std::move(cell));
}

/// One frame for each vector of a thread. A warp has a stretch of the row, so
/// that its vectors lie constants apart. What a vector that is not there would
/// be is not read, and counts for nothing.
void KeptRow::addCells() {
  std::int64_t warp = device.target.warp, apart = warp * lanes;
  emitter.in(frame);
  Value size = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(warp));
  Value before = arith::DivUIOp::create(b, loc, team.thread, size);
  Value first = times(wide(before), apart * kept.cells);
  first = plus(plus(first, times(wide(team.lane), lanes)), begin);
  // Elements from the thread's first on: one number tells which are there.
  Value left = minus(end, first);
  if (!emitter.model.kernel.getWide())
    left = arith::TruncIOp::create(b, loc, b.getI32Type(), left);
  for (unsigned cell = 0; cell < kept.cells; ++cell) {
    Value at = plus(first, number(cell * apart));
    Value passed = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(left.getType(), cell * apart));
    addCell(
        at, lanes,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, passed));
  }
}

/// The first threads have one element each of those outside whole vectors.
void KeptRow::addEdges() {
  Value thread = wide(team.thread), vectors = minus(end, begin);
  Value behind = plus(thread, vectors), all = minus(loop.upper, vectors);
  emitter.in(frame);
  auto below = [&](Value bound) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread,
                                 bound);
  };
  Value at = arith::SelectOp::create(b, loc, below(begin), thread, behind);
  addCell(at, 1, below(all));
}

/// Reads what lies along the row, and of `others` along some of them too. What
/// has an axis that is not bound here is other launches'.
void KeptRow::fetch(MutableArrayRef<Frame> cells, AxisSet others) {
  const KernelModel &model = emitter.model;
  for (qn::LoadOp load : model.kernel.block().getOps<qn::LoadOp>()) {
    AxisSet axes = model.axesOf(load.getTensor().getType());
    if (!load.getIndices().empty() || !hasAxis(axes, axis) ||
        (others && !(axes & others)) || (axes & ~cells.front().bound))
      continue;
    for (Frame &cell : cells)
      emitter.emit(cell, load.getResult(), 0);
  }
}

void KeptRow::walkCells(Values &states, Body body) {
  MutableArrayRef<Frame> cells = *frame.cells;
  unsigned some = std::max(2u, 4 / lanes);
  auto moveTo = [&](Operation *anchor) {
    for (Frame &cell : cells)
      cell.anchor = anchor;
  };
  for (auto [number, cell] : llvm::enumerate(cells)) {
    moveTo(frame.anchor);
    if (!states.empty()) {
      Values next(states);
      body(cell, next);
      emitter.in(frame);
      for (auto [old, now] : llvm::zip(states, next))
        old = arith::SelectOp::create(b, loc, cell.inRange, now, old);
      continue;
    }
    // What all rows share comes for a few elements at a time.
    if (number % some == 0)
      fetch(cells.slice(number).take_front(some), {});
    emitter.in(frame);
    auto branch = scf::IfOp::create(b, loc, cell.inRange, false);
    Operation *anchor = std::exchange(frame.anchor, branch);
    moveTo(branch);
    Frame inside = Frame::inside(cell, branch.thenBlock());
    inside.anchor = branch.thenBlock()->getTerminator();
    body(inside, states);
    frame.anchor = anchor;
  }
  moveTo(frame.anchor);
}

SmallVector<KeptRow::Slot> KeptRow::slots() const {
  SmallVector<Slot> made;
  std::int64_t first = 0;
  RowNeeds needs = needsOf(emitter.model, *emitter.launch);
  for (Value operand : rowsOf(emitter.model, *emitter.launch, needs)) {
    auto type = cast<qn::OperandType>(operand.getType());
    unsigned bytes = storedBytes(type.getElementType());
    made.push_back({cast<BlockArgument>(operand), bytes, first});
    first += bytes * kept.sharedLanes;
  }
  return made;
}

/// Where a vector lies, of which `local` elements of the block's part lie
/// before it, i32.
Value KeptRow::placeOf(const Slot &slot, Value local) {
  auto word = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value at = arith::MulIOp::create(b, loc, local, word(slot.bytes));
  at = arith::AddIOp::create(b, loc, at, word(slot.first));
  return LLVM::GEPOp::create(b, loc, kept.memory.getType(), b.getI8Type(),
                             kept.memory, ArrayRef<LLVM::GEPArg>{at});
}

/// Copies a vector there, without registers where the device can.
void KeptRow::leave(Frame &inner, const Slot &slot, Value local) {
  auto type = cast<qn::OperandType>(slot.operand.getType());
  AxisSet axes = emitter.model.axesOf(type);
  unsigned bytes = slot.bytes * lanes;
  bool isNear = emitter.strideAlong(type, axis) == StrideClass::One;
  Type element = type.getElementType();
  if (!device.hasAsyncCopies() || !isNear || !llvm::isPowerOf2_32(bytes) ||
      bytes < 4 || bytes > 16) {
    Value value =
        emitter.loadOwn(inner, slot.operand, std::nullopt, element, 0);
    emitter.in(inner);
    return emitter.write(inner, placeOf(slot, local), value, element, Value(),
                         true);
  }
  constexpr unsigned globalSpace = 1;
  Value from = emitter.address(inner, slot.operand, axes, 0);
  emitter.in(inner);
  from = LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), globalSpace), from);
  device.copyAsync(loc, placeOf(slot, local), from, bytes);
}

/// The vectors behind those in registers, the blocks of a cluster in turns.
/// `body` gets how many elements of the block's own part lie before one.
void KeptRow::walkVectors(
    Values &states, llvm::function_ref<void(Frame &, Value, Values &)> body,
    bool isLong) {
  bool isWide = emitter.model.kernel.getWide();
  Type type = isWide ? b.getI64Type() : b.getI32Type();
  auto fit = [&](Value value) -> Value {
    emitter.in(frame);
    return isWide ? value : arith::TruncIOp::create(b, loc, type, value);
  };
  std::int64_t turn = std::int64_t(team.size) * lanes;
  Value first = plus(begin, times(wide(team.thread), lanes));
  first = fit(plus(first, number(turn * kept.cells)));
  Value upper = fit(end), by = fit(number(turn));
  auto made = scf::ForOp::create(b, loc, first, upper, by, states, nullptr,
                                 /*unsignedCmp=*/!isWide);
  if (isLong)
    neverUnroll(made);
  if (states.empty())
    made.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(frame.anchor, made);
  Frame inner = Frame::inside(frame, made.getBody());
  emitter.in(inner);
  Value position = made.getInductionVar();
  Value local = arith::SubIOp::create(b, loc, position, first);
  if (isWide)
    local = arith::TruncIOp::create(b, loc, b.getI32Type(), local);
  else
    position = arith::ExtUIOp::create(b, loc, b.getI64Type(), position);
  auto word = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  local =
      arith::ShRUIOp::create(b, loc, local, word(llvm::Log2_32(team.blocks)));
  Value own =
      arith::MulIOp::create(b, loc, team.warp, word(device.target.warp));
  own = arith::AddIOp::create(b, loc, own, team.lane);
  own = arith::MulIOp::create(b, loc, own, word(lanes));
  local = arith::AddIOp::create(b, loc, local, own);
  inner.bind(Binding{
      .axis = axis, .position = position, .lanes = lanes, .shared = true});
  Values carried(made.getRegionIterArgs());
  body(inner, local, carried);
  scf::YieldOp::create(emitter.in(inner), loc, carried);
  frame.anchor = anchor;
  states.assign(made.result_begin(), made.result_end());
}

/// The value that a slot has: one that a pass has left, or null for the
/// operand's own.
Value KeptRow::heldIn(const Slot &slot) const {
  return frame.values.lookup({slot.operand.getAsOpaquePointer(), Copies(1)});
}

/// Whether something that is still to be made is made of a value other than by
/// way of `cut`.
bool KeptRow::reaches(Value from, Value cut) const {
  SmallVector<Value> open{from};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (value == cut)
      continue;
    for (Operation *user : value.getUsers()) {
      user = emitter.model.kernel.block().findAncestorOpInBlock(*user);
      if (!seen.insert(user).second)
        continue;
      auto reduce = dyn_cast<qn::ReduceOp>(user);
      if (user->getNumResults() == 0 || (reduce && !isMade(reduce)))
        return true;
      if (!reduce)
        llvm::append_range(open, user->getResults());
    }
  }
  return false;
}

bool KeptRow::isMade(qn::ReduceOp op) const {
  return frame.values.contains(
      {op->getResult(0).getAsOpaquePointer(), Copies(0)});
}

/// What all later passes make of an operand first, where this one has made it
/// and it is much to make again; null otherwise. A pass in a branch would bring
/// the operand anew.
Value KeptRow::successorOf(Frame &inner, const Slot &slot) const {
  constexpr unsigned much = 6;
  const KernelModel &model = emitter.model;
  Block &block = model.kernel.block();
  qn::LoadOp load;
  for (Operation *user : slot.operand.getUsers()) {
    auto each = dyn_cast<qn::LoadOp>(user);
    if (load || !each || each->getBlock() != &block ||
        !each.getIndices().empty())
      return Value();
    load = each;
  }
  for (qn::ReduceOp op : model.reductions)
    if (op->getBlock() != &block)
      return Value();
  Value found;
  unsigned count = 0;
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || &op == load.getOperation())
      continue;
    Value result = op.getResult(0);
    Value made = inner.values.lookup({result.getAsOpaquePointer(), Copies(0)});
    Type type = result.getType();
    if (!made || ++count < much || !isa<FloatType>(type) ||
        storedBytes(type) != slot.bytes)
      continue;
    auto vector = dyn_cast<VectorType>(made.getType());
    if (vector && vector.getNumElements() == std::int64_t(lanes) &&
        !reaches(load.getResult(), result))
      found = result;
  }
  return found;
}

/// Later passes find there what this one has made.
void KeptRow::leaveMade(Frame &inner, const Slot &slot, Value local,
                        Value made) {
  Value value = inner.values.lookup({made.getAsOpaquePointer(), Copies(0)});
  emitter.in(inner);
  emitter.write(inner, placeOf(slot, local), value, made.getType(), Value(),
                true);
  frame.values[{slot.operand.getAsOpaquePointer(), Copies(1)}] = made;
}

/// What is there is what a load would read, or what a pass has made of it.
void KeptRow::walkShared(Values &states, Body body) {
  SmallVector<Slot> all = slots();
  emitter.in(frame);
  device.awaitCopies(loc, 0);
  Value isThere = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  auto loads = emitter.model.kernel.block().getOps<qn::LoadOp>();
  walkVectors(
      states,
      [&](Frame &inner, Value local, Values &carried) {
        auto take = [&](const Slot &slot, Value value) {
          emitter.in(inner);
          Value at = placeOf(slot, local);
          inner.values[{value.getAsOpaquePointer(), Copies(0)}] = emitter.read(
              inner, at, value.getType(), lanes, Value(), Value(), true);
        };
        for (const Slot &slot : all) {
          if (Value held = heldIn(slot)) {
            take(slot, held);
            continue;
          }
          for (qn::LoadOp load : loads)
            if (load.getTensor() == slot.operand && load.getIndices().empty())
              take(slot, load.getResult());
        }
        // Factors of a product that is kept are not added up unrounded.
        inner.guards = true;
        inner.inRange = isThere;
        body(inner, carried);
        for (const Slot &slot : all)
          if (Value made = carried.empty() || heldIn(slot)
                               ? Value()
                               : successorOf(inner, slot))
            leaveMade(inner, slot, local, made);
      },
      /*isLong=*/true);
}
