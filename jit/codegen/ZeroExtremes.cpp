// The larger of a number and zero in two instructions of X86.
#include "jit/codegen/Codegen.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

/// X86 gives the second operand where one is NaN or both are zero, so `0 > x ?
/// 0 : x` is its maximum, with the zero of x: the sum with zero makes it the
/// positive one. Code generation compares with NaN and selects instead; beside
/// any other constant it takes the one instruction itself.
void quern::jit::shortenZeroExtremes(Function &function) {
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != Intrinsic::maximum)
      continue;
    Type *type = call->getType()->getScalarType();
    if (!type->isFloatTy() && !type->isDoubleTy())
      continue;
    Value *number = call->getArgOperand(0), *zero = call->getArgOperand(1);
    if (!PatternMatch::match(zero, PatternMatch::m_PosZeroFP()))
      std::swap(number, zero);
    if (!PatternMatch::match(zero, PatternMatch::m_PosZeroFP()))
      continue;
    IRBuilder<> builder(call);
    Value *below = builder.CreateFCmpOGT(zero, number);
    Value *larger = builder.CreateSelect(below, zero, number);
    call->replaceAllUsesWith(builder.CreateFAdd(larger, zero));
    call->eraseFromParent();
  }
}
