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

Lanes ThreadEmitter::atomic(qn::AtomicOp op) {
  Address at = address(op, op.getPlace(), op.getIndices(), op.getChecked(), {});
  Type type = op.getValue().getType();
  Type stored = toMemory(zero(type), type).getType();
  bool isShared = isa<MemRefType>(op.getPlace().getType());
  Lanes value = get(op.getValue());
  Lanes expected = op.getExpected() ? get(op.getExpected()) : Lanes();
  Value all = at.offsets || at.step ? pointers(at) : Value();
  Value mask = at.mask;
  if (at.good)
    mask = both(mask ? mask : spread(constant(1, b.getI1Type())), at.good);
  auto lane = [&](Lanes from, unsigned number) -> Value {
    if (from.isUniform())
      return from.scalar;
    return vector::ExtractOp::create(b, loc, vectorOf(from), number);
  };
  Value results = op.getOld().use_empty() ? Value() : zero(wide(stored));
  for (unsigned number = 0; number < lanes; ++number) {
    Value takes =
        mask ? Value(vector::ExtractOp::create(b, loc, mask, number)) : Value();
    Value old = guarded(takes, stored, [&]() -> Value {
      Value pointer = all ? Value(LLVM::ExtractElementOp::create(
                                b, loc, all, constant(number)))
                          : at.base;
      Value given = toMemory(lane(value, number), type);
      Value wanted =
          op.getExpected() ? toMemory(lane(expected, number), type) : Value();
      return atomicLane(op, pointer, given, wanted, isShared);
    });
    if (results)
      results = vector::InsertOp::create(b, loc, old, results, number);
  }
  if (!results)
    return {zero(type), 0, {}};
  return {{}, 0, fromMemory(results, type)};
}
