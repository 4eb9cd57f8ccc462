// Numbers of bf16 travel as integers to where they are computed with.
#include "jit/codegen/Codegen.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {
/// Makes integers of what has bf16.
class Carrier {
public:
  Value *bits(Value *value);
  /// The type as integers; null where it has nothing of bf16.
  static Type *typeOf(const Value *value) {
    Type *type = value->getType();
    if (!type->getScalarType()->isBFloatTy())
      return nullptr;
    return type->getWithNewType(IntegerType::get(type->getContext(), 16));
  }

private:
  Value *made(Instruction *value, IRBuilder<> &builder);
  Value *madePhi(PHINode *phi, IRBuilder<> &builder);
  /// What is replaced later is followed.
  DenseMap<Value *, WeakTrackingVH> known;
};
} // namespace

Value *Carrier::madePhi(PHINode *phi, IRBuilder<> &builder) {
  PHINode *bits = builder.CreatePHI(typeOf(phi), phi->getNumIncomingValues());
  known[phi] = bits;
  for (auto [value, block] : zip_equal(phi->incoming_values(), phi->blocks()))
    bits->addIncoming(this->bits(value), block);
  return bits;
}

/// What moves numbers is made again, as integers.
Value *Carrier::made(Instruction *value, IRBuilder<> &builder) {
  Type *type = typeOf(value);
  if (auto *cast = dyn_cast<BitCastInst>(value))
    if (cast->getSrcTy() == type)
      return cast->getOperand(0);
  if (auto *phi = dyn_cast<PHINode>(value))
    return madePhi(phi, builder);
  if (auto *load = dyn_cast<LoadInst>(value); load && load->isSimple()) {
    LoadInst *bits = builder.CreateAlignedLoad(type, load->getPointerOperand(),
                                               load->getAlign());
    bits->copyMetadata(*load);
    return bits;
  }
  if (auto *choice = dyn_cast<SelectInst>(value))
    return builder.CreateSelect(choice->getCondition(),
                                bits(choice->getTrueValue()),
                                bits(choice->getFalseValue()));
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(value))
    return builder.CreateShuffleVector(bits(shuffle->getOperand(0)),
                                       bits(shuffle->getOperand(1)),
                                       shuffle->getShuffleMask());
  builder.SetInsertPoint(*value->getInsertionPointAfterDef());
  return builder.CreateBitCast(value, type);
}

Value *Carrier::bits(Value *value) {
  if (Value *found = known.lookup(value))
    return found;
  auto *instruction = dyn_cast<Instruction>(value);
  if (auto *constant = dyn_cast<Constant>(value))
    return known[value] = ConstantExpr::getBitCast(constant, typeOf(value));
  assert(instruction && "kernels have no arguments of bf16");
  IRBuilder<> builder(instruction);
  Value *result = made(instruction, builder);
  return known[value] = result;
}

/// X86 without bf16 of its own takes vectors of them from block to block as one
/// f32 for each, rounded again by a call into a library that is not there.
void quern::jit::carryAsBits(Function &function) {
  Carrier carrier;
  SmallVector<WeakTrackingVH> old;
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    if (auto *store = dyn_cast<StoreInst>(&instruction);
        store && Carrier::typeOf(store->getValueOperand())) {
      old.push_back(store->getValueOperand());
      store->setOperand(0, carrier.bits(store->getValueOperand()));
      continue;
    }
    auto *cast = dyn_cast<BitCastInst>(&instruction);
    if (!cast || Carrier::typeOf(cast->getOperand(0)) != cast->getType())
      continue;
    Value *from = cast->getOperand(0), *bits = carrier.bits(from);
    if (bits == cast)
      continue;
    old.push_back(from);
    cast->replaceAllUsesWith(bits);
    cast->eraseFromParent();
  }
  for (WeakTrackingVH &value : old) {
    Value *left = value;
    if (auto *phi = dyn_cast_or_null<PHINode>(left))
      RecursivelyDeleteDeadPHINode(phi);
    else if (left)
      RecursivelyDeleteTriviallyDeadInstructions(left);
  }
}
