// Memory of a task: shared and local arrays, and values that outlive a stage.
#include "dsl/lower/TaskMemory.h"
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// Vectors of threads in a block, at most.
static std::int64_t vectorsOf(const ThreadModel &model, unsigned lanes) {
  auto [x, y, z] = model.block;
  if (!x && y && z && *y > 0 && *z > 0)
    x = std::max<std::int64_t>(maximumThreads / (*y * *z), 1);
  if (!x || !y || !z)
    return maximumThreads;
  if (model.isLinear)
    return llvm::divideCeil(*x * *y * *z, lanes);
  return llvm::divideCeil(*x, lanes) * *y * *z;
}

std::int64_t ThreadEmitter::vectorCount() const {
  return vectorsOf(model, lanes);
}

/// Memory for the whole task, taken once where the function begins: of the
/// stack, or of the worker's own workspace.
Value ThreadEmitter::reserve(Type element, std::int64_t count) {
  constexpr unsigned alignment = 64;
  OpBuilder::InsertionGuard guard(b);
  std::int64_t bytes =
      llvm::alignTo(count * (element.getIntOrFloatBitWidth() / 8), alignment);
  b.setInsertionPoint(entryEnd);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (stackBytes + bytes <= mostOnStack) {
    stackBytes += bytes;
    return LLVM::AllocaOp::create(b, loc, pointer, element, constant(count),
                                  alignment);
  }
  Value at = arith::AddIOp::create(b, loc, ownWorkspace, constant(ownBytes));
  ownBytes += bytes;
  return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(),
                             words[Packet::workspaceWord],
                             ArrayRef<LLVM::GEPArg>{at});
}

Value ThreadEmitter::slotOf(Value value) {
  Value &slot = slots[value];
  if (!slot)
    slot = reserve(memoryType(value.getType()),
                   vectorCount() * (model.hasLanes(value) ? lanes : 1));
  return slot;
}

Value ThreadEmitter::slotPointer(Value value) {
  Value slot = slotOf(value);
  Type element = memoryType(value.getType());
  if (model.hasLanes(value))
    element = wide(element);
  return LLVM::GEPOp::create(b, loc, slot.getType(), element, slot,
                             ArrayRef<LLVM::GEPArg>{vectorNumber});
}

/// Bytes of a slot's vectors are aligned to the vector, or to one element.
static unsigned alignmentOf(Value value, unsigned lanes, bool isVector) {
  unsigned bytes = memoryType(value.getType()).getIntOrFloatBitWidth() / 8;
  return isVector ? std::min(bytes * lanes, 64u) : bytes;
}

void ThreadEmitter::keep(Value value, Lanes given) {
  bool isVector = model.hasLanes(value);
  Value stored =
      toMemory(isVector ? vectorOf(given) : given.scalar, value.getType());
  LLVM::StoreOp::create(b, loc, stored, slotPointer(value),
                        alignmentOf(value, lanes, isVector));
}

Lanes ThreadEmitter::kept(Value value) {
  bool isVector = model.hasLanes(value);
  Type type = memoryType(value.getType());
  Value raw = LLVM::LoadOp::create(b, loc, isVector ? wide(type) : type,
                                   slotPointer(value),
                                   alignmentOf(value, lanes, isVector));
  Value found = fromMemory(raw, value.getType());
  return isVector ? Lanes{{}, 0, found} : Lanes{found, 0, {}};
}

/// A thread's own array lies lane beside lane; it has a place for every vector
/// of threads only where a later stage may read it.
Value ThreadEmitter::arrayBase(Value array) {
  auto type = cast<MemRefType>(array.getType());
  bool isOwn = type.getMemorySpaceAsInt() == 5;
  bool outlives = isOwn && model.outlives(array.getDefiningOp());
  std::int64_t count = type.getNumElements() * (isOwn ? lanes : 1);
  if (isa<ComplexType>(type.getElementType()))
    count *= 2;
  Type element = memoryType(type.getElementType());
  Value &base = arrays[array];
  if (!base)
    base = reserve(element, count * (outlives ? vectorCount() : 1));
  if (!outlives)
    return base;
  Value first = arith::MulIOp::create(b, loc, vectorNumber, constant(count));
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{first});
}
