// A NaN is kept beside numbers by one instruction of AVX-512.
#include "jit/codegen/Codegen.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// `x if isnan(x) else old` of whole vectors. VFIXUPIMM looks up what to do
/// with a number by its class, four bits each: the first two are NaN, which
/// become quiet ones, and the others leave what was there.
void quern::jit::keepNanAtOnce(Function &function) {
  constexpr std::uint64_t quietNan = 0x22;
  constexpr unsigned currentRounding = 4;
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    auto *type = dyn_cast<FixedVectorType>(instruction.getType());
    Value *number, *old;
    if (!type || type->getPrimitiveSizeInBits() != 512 ||
        !match(&instruction,
               m_Select(m_SpecificFCmp(FCmpInst::FCMP_UNO, m_Value(number),
                                       m_AnyZeroFP()),
                        m_Deferred(number), m_Value(old))))
      continue;
    bool isSingle = type->getElementType()->isFloatTy();
    if (!isSingle && !type->getElementType()->isDoubleTy())
      continue;
    IRBuilder<> builder(&instruction);
    Type *bits = builder.getIntNTy(type->getScalarSizeInBits());
    Value *table = ConstantInt::get(
        FixedVectorType::get(bits, type->getNumElements()), quietNan);
    Value *kept = builder.CreateIntrinsic(
        isSingle ? Intrinsic::x86_avx512_mask_fixupimm_ps_512
                 : Intrinsic::x86_avx512_mask_fixupimm_pd_512,
        {old, number, table, builder.getInt32(0),
         ConstantInt::getAllOnesValue(
             builder.getIntNTy(type->getNumElements())),
         builder.getInt32(currentRounding)});
    instruction.replaceAllUsesWith(kept);
    instruction.eraseFromParent();
  }
}
