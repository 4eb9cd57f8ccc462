// The part of a kept row that lies in shared memory: who has brought a vector
// there reads it, and what one pass makes of it may take its place.
#include "dsl/gpu/KeptRow.h"
#include "dsl/gpu/Registers.h"
#include "dsl/lower/LoopHints.h"
#include "dsl/schedule/StagedSlots.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

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

/// The vector of a number among those of a turn.
KeptRow::Part KeptRow::partOf(const Turns &turns, scf::ForOp made,
                              unsigned number) {
  Part part{.frame = Frame::inside(frame, made.getBody()), .local = {}};
  emitter.in(part.frame);
  auto word = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value position = made.getInductionVar();
  Value behind = arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(position.getType(), number * turn()));
  position = arith::AddIOp::create(b, loc, position, behind);
  Value local = arith::SubIOp::create(b, loc, position, turns.first);
  if (emitter.model.kernel.getWide())
    local = arith::TruncIOp::create(b, loc, b.getI32Type(), local);
  else
    position = arith::ExtUIOp::create(b, loc, b.getI64Type(), position);
  local =
      arith::ShRUIOp::create(b, loc, local, word(llvm::Log2_32(team.blocks)));
  Value own =
      arith::MulIOp::create(b, loc, team.warp, word(device.target.warp));
  own = arith::AddIOp::create(b, loc, own, team.lane);
  own = arith::MulIOp::create(b, loc, own, word(lanes));
  part.local = arith::AddIOp::create(b, loc, local, own);
  part.frame.bind(Binding{
      .axis = axis, .position = position, .lanes = lanes, .shared = true});
  return part;
}

void KeptRow::walkTurns(Values &states, Parts body, const Turns &turns) {
  emitter.in(frame);
  Value by = arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(turns.lower.getType(), turns.each * turn()));
  auto made =
      scf::ForOp::create(b, loc, turns.lower, turns.upper, by, states, nullptr,
                         /*unsignedCmp=*/!emitter.model.kernel.getWide());
  if (turns.isLong)
    neverUnroll(made);
  if (states.empty())
    made.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(frame.anchor, made);
  std::vector<Part> parts;
  parts.reserve(turns.each);
  for (unsigned number = 0; number < turns.each; ++number)
    parts.push_back(partOf(turns, made, number));
  Values carried(made.getRegionIterArgs());
  body(parts, carried);
  scf::YieldOp::create(emitter.in(parts.front().frame), loc, carried);
  frame.anchor = anchor;
  states.assign(made.result_begin(), made.result_end());
}

/// The vectors behind those in registers, the blocks of a cluster in turns:
/// `each` of a thread at a time, then those that are left one by one.
void KeptRow::walkVectors(Values &states, Parts body, unsigned each,
                          bool isLong) {
  bool isWide = emitter.model.kernel.getWide();
  Type type = isWide ? b.getI64Type() : b.getI32Type();
  auto fit = [&](Value value) -> Value {
    emitter.in(frame);
    return isWide ? value : arith::TruncIOp::create(b, loc, type, value);
  };
  auto constant = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  Value first = plus(begin, times(wide(team.thread), lanes));
  first = fit(plus(first, number(turn() * kept.cells)));
  Value upper = fit(end), lower = first;
  if (each > 1) {
    emitter.in(frame);
    Value left = arith::MaxUIOp::create(b, loc, first, upper);
    left = arith::SubIOp::create(b, loc, left, first);
    left = arith::AddIOp::create(b, loc, left, constant(turn() - 1));
    left = arith::DivUIOp::create(b, loc, left, constant(each * turn()));
    left = arith::MulIOp::create(b, loc, left, constant(each * turn()));
    Value middle = arith::AddIOp::create(b, loc, first, left);
    walkTurns(states, body, {first, lower, middle, each, isLong});
    lower = middle;
  }
  walkTurns(states, body, {first, lower, upper, 1, isLong});
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
void KeptRow::take(Part &part, ArrayRef<Slot> all) {
  auto loads = emitter.model.kernel.block().getOps<qn::LoadOp>();
  auto give = [&](const Slot &slot, Value value) {
    emitter.in(part.frame);
    Value at = placeOf(slot, part.local);
    part.frame.values[{value.getAsOpaquePointer(), Copies(0)}] = emitter.read(
        part.frame, at, value.getType(), lanes, Value(), Value(), true);
  };
  for (const Slot &slot : all) {
    if (Value held = heldIn(slot)) {
      give(slot, held);
      continue;
    }
    for (qn::LoadOp load : loads)
      if (load.getTensor() == slot.operand && load.getIndices().empty())
        give(slot, load.getResult());
  }
}

/// Where rows are stored, what all of them share comes for two vectors at once.
void KeptRow::walkShared(Values &states, Body body) {
  SmallVector<Slot> all = slots();
  emitter.in(frame);
  device.awaitCopies(loc, 0);
  Value isThere = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  walkVectors(
      states,
      [&](MutableArrayRef<Part> parts, Values &carried) {
        for (Part &part : parts) {
          take(part, all);
          if (carried.empty())
            fetch(part.frame, {});
        }
        for (Part &part : parts) {
          // Factors of a product that is kept are not added up unrounded.
          part.frame.guards = true;
          part.frame.inRange = isThere;
          body(part.frame, carried);
          for (const Slot &slot : all)
            if (Value made = carried.empty() || heldIn(slot)
                                 ? Value()
                                 : successorOf(part.frame, slot))
              leaveMade(part.frame, slot, part.local, made);
        }
      },
      /*each=*/states.empty() && !kept.phaseOf ? 2 : 1, /*isLong=*/true);
}
