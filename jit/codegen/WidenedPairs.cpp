// Pairs of bf16 become f32 in one instruction each.
#include "jit/codegen/Codegen.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

/// Of a word that holds two numbers the lower is shifted up, and of the upper
/// the other half is cut off, where code generation would move it down first.
void quern::jit::widenPairs(Function &function) {
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    auto *type = dyn_cast<FixedVectorType>(instruction.getType());
    Value *narrow =
        isa<FPExtInst>(instruction) ? instruction.getOperand(0) : nullptr;
    if (!narrow || !type || !type->getElementType()->isFloatTy() ||
        !narrow->getType()->getScalarType()->isBFloatTy() ||
        type->getNumElements() % 2)
      continue;
    IRBuilder<> builder(&instruction);
    unsigned pairs = type->getNumElements() / 2;
    auto *words = FixedVectorType::get(builder.getInt32Ty(), pairs);
    Value *both = builder.CreateBitCast(narrow, words);
    Value *made = PoisonValue::get(type);
    for (unsigned pair = 0; pair < pairs; ++pair) {
      Value *word = builder.CreateExtractElement(both, pair);
      Value *halves[] = {builder.CreateShl(word, 16),
                         builder.CreateAnd(word, 0xffff0000U)};
      for (unsigned half = 0; half < 2; ++half)
        made = builder.CreateInsertElement(
            made, builder.CreateBitCast(halves[half], builder.getFloatTy()),
            2 * pair + half);
    }
    instruction.replaceAllUsesWith(made);
    instruction.eraseFromParent();
  }
}
