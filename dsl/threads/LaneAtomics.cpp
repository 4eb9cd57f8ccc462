// Atomic operations: one lane after the other; on memory of the block, which
// one task works on, plain updates.
#include "dsl/threads/AtomicUpdate.h"
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// One lane's operation; gives the old value as it is in memory.
Value ThreadEmitter::atomicLane(qn::AtomicOp op, Value pointer, Value value,
                                Value expected, bool isShared) {
  Type type = value.getType();
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  if (isShared) {
    Value old = LLVM::LoadOp::create(b, loc, type, pointer, bytes);
    LLVM::StoreOp::create(b, loc, plainUpdate(b, loc, op, old, value, expected),
                          pointer, bytes);
    return old;
  }
  return atomicUpdate(b, loc, op, pointer, value, expected, "", AtomicTraits());
}

/// The offsets of an access in memory, for one lane at a time: taken out of
/// vector registers, addresses make some CPUs mistake neighbouring updates for
/// updates of one place, at some 20 cycles each.
Value ThreadEmitter::laneOffsets(const Address &at, bool isNarrow) {
  if (!at.offsets)
    return {};
  Type type = isNarrow ? b.getI32Type() : b.getI64Type();
  Value offsets = at.offsets;
  if (isNarrow)
    offsets = arith::TruncIOp::create(b, loc, wide(type), offsets);
  Value place = reserve(type, lanes);
  LLVM::StoreOp::create(b, loc, offsets, place, 0, /*isVolatile=*/true);
  return place;
}

Value ThreadEmitter::lanePointer(const Address &at, Value offsets, Type offset,
                                 unsigned number) {
  Value index = constant(at.step * number);
  if (offsets) {
    Value from = LLVM::GEPOp::create(
        b, loc, offsets.getType(), offset, offsets,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    index = LLVM::LoadOp::create(b, loc, offset, from, 0, /*isVolatile=*/true);
  }
  return LLVM::GEPOp::create(b, loc, at.base.getType(), at.element, at.base,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// The lanes of `mask`, one after the other; null: all of them.
Value ThreadEmitter::atomicLanes(qn::AtomicOp op, const Address &at,
                                 Value mask) {
  Type type = op.getValue().getType();
  Type stored = toMemory(zero(type), type).getType();
  bool isShared = isa<MemRefType>(op.getPlace().getType());
  Lanes value = get(op.getValue());
  Lanes expected = op.getExpected() ? get(op.getExpected()) : Lanes();
  auto lane = [&](Lanes from, unsigned number) -> Value {
    if (from.isUniform())
      return from.scalar;
    return vector::ExtractOp::create(b, loc, vectorOf(from), number);
  };
  bool isNarrow = isShared && !at.isFar;
  Value offsets = laneOffsets(at, isNarrow);
  Type offset = isNarrow ? b.getI32Type() : b.getI64Type();
  Value results = op.getOld().use_empty() ? Value() : zero(wide(stored));
  for (unsigned number = 0; number < lanes; ++number) {
    Value takes =
        mask ? Value(vector::ExtractOp::create(b, loc, mask, number)) : Value();
    Value old = guarded(takes, stored, [&]() -> Value {
      Value given = toMemory(lane(value, number), type);
      Value wanted =
          op.getExpected() ? toMemory(lane(expected, number), type) : Value();
      return atomicLane(op, lanePointer(at, offsets, offset, number), given,
                        wanted, isShared);
    });
    if (results)
      results = vector::InsertOp::create(b, loc, old, results, number);
  }
  return results;
}

/// Plain updates of all lanes are straight code, without a branch for each.
Lanes ThreadEmitter::atomic(qn::AtomicOp op) {
  Address at = address(op, op.getPlace(), op.getIndices(), op.getChecked(), {});
  Type type = op.getValue().getType();
  Value mask = at.mask;
  if (at.good)
    mask = both(mask ? mask : spread(constant(1, b.getI1Type())), at.good);
  bool isPlain = isa<MemRefType>(op.getPlace().getType());
  if (!mask || !isPlain) {
    Value results = atomicLanes(op, at, mask);
    return results ? Lanes{{}, 0, fromMemory(results, type)}
                   : Lanes{zero(type), 0, {}};
  }
  Value all =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, mask);
  SmallVector<Type> types;
  if (!op.getOld().use_empty())
    types.push_back(wide(memoryType(type)));
  auto branch = scf::IfOp::create(b, loc, types, all, /*withElseRegion=*/true);
  for (bool isFull : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    enter(b, isFull ? branch.thenBlock() : branch.elseBlock());
    Value results = atomicLanes(op, at, isFull ? Value() : mask);
    scf::YieldOp::create(b, loc, results ? ValueRange(results) : ValueRange());
  }
  if (types.empty())
    return {zero(type), 0, {}};
  return {{}, 0, fromMemory(branch.getResult(0), type)};
}
