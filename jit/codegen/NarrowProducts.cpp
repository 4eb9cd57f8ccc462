// Products of short numbers are made of no more bits than they have.
#include "jit/codegen/Codegen.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

/// Of 16-bit factors X86 has an instruction for the product's upper half, and
/// what is wanted of the bits behind it LLVM 22 takes by a shift of that half,
/// of as many bits as it has or more, which is no value.
void quern::jit::multiplyNarrowly(Function &function) {
  const DataLayout &layout = function.getDataLayout();
  for (Instruction &product : make_early_inc_range(instructions(function))) {
    auto *type = dyn_cast<FixedVectorType>(product.getType());
    if (product.getOpcode() != Instruction::Mul || !type ||
        type->getScalarSizeInBits() <= 32)
      continue;
    bool areSigned = all_of(product.operands(), [&](Value *factor) {
      return ComputeMaxSignificantBits(factor, layout) <= 16;
    });
    bool areUnsigned = all_of(product.operands(), [&](Value *factor) {
      return computeKnownBits(factor, layout).countMaxActiveBits() <= 16;
    });
    if (!areSigned && !areUnsigned)
      continue;
    IRBuilder<> builder(&product);
    Type *narrow = type->getWithNewBitWidth(32);
    Value *left = builder.CreateTrunc(product.getOperand(0), narrow);
    Value *right = builder.CreateTrunc(product.getOperand(1), narrow);
    Value *made = builder.CreateMul(left, right);
    product.replaceAllUsesWith(areSigned ? builder.CreateSExt(made, type)
                                         : builder.CreateZExt(made, type));
    product.eraseFromParent();
  }
}
