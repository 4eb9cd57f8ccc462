// A division by a root of whole vectors by AVX-512's estimate of what it is the
// reciprocal of.
#include "jit/codegen/Codegen.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

Intrinsic::ID estimateOf(const FixedVectorType &type) {
  bool isSingle = type.getElementType()->isFloatTy();
  if (!isSingle && !type.getElementType()->isDoubleTy())
    return Intrinsic::not_intrinsic;
  switch (type.getPrimitiveSizeInBits().getFixedValue()) {
  case 128:
    return isSingle ? Intrinsic::x86_avx512_rsqrt14_ps_128
                    : Intrinsic::x86_avx512_rsqrt14_pd_128;
  case 256:
    return isSingle ? Intrinsic::x86_avx512_rsqrt14_ps_256
                    : Intrinsic::x86_avx512_rsqrt14_pd_256;
  case 512:
    return isSingle ? Intrinsic::x86_avx512_rsqrt14_ps_512
                    : Intrinsic::x86_avx512_rsqrt14_pd_512;
  default:
    return Intrinsic::not_intrinsic;
  }
}

bool mayBeEstimated(const Use &use) {
  auto *division = dyn_cast<BinaryOperator>(use.getUser());
  return division && division->getOpcode() == Instruction::FDiv &&
         use.getOperandNo() == 1 && division->hasAllowReciprocal();
}

/// `1 / sqrt(number)`: each of Newton's steps doubles the 14 bits of the
/// estimate. Of zero and infinity, whose product is NaN, the estimate stays.
Value *reciprocalRoot(IRBuilder<> &builder, Value *number, Intrinsic::ID id) {
  auto *type = cast<FixedVectorType>(number->getType());
  unsigned lanes = type->getNumElements();
  Type *mask = builder.getIntNTy(std::max(lanes, 8U));
  Value *estimate =
      builder.CreateIntrinsic(id, {number, ConstantFP::getZero(type),
                                   ConstantInt::getAllOnesValue(mask)});
  Value *root = estimate;
  auto fused = [&](Value *a, Value *b, Value *c) {
    return builder.CreateIntrinsic(Intrinsic::fma, {type}, {a, b, c});
  };
  for (int steps = type->getElementType()->isFloatTy() ? 1 : 2; steps;
       --steps) {
    Value *product = builder.CreateFNeg(builder.CreateFMul(number, root));
    Value *rest = fused(product, root, ConstantFP::get(type, 1));
    Value *half = builder.CreateFMul(root, ConstantFP::get(type, 0.5));
    root = fused(half, rest, root);
  }
  return builder.CreateSelect(builder.CreateFCmpUNO(root, root), estimate,
                              root);
}

} // namespace

/// Where nothing but such divisions reads the root, no root is made.
void quern::jit::estimateRoots(Function &function) {
  SmallVector<IntrinsicInst *> roots;
  for (Instruction &instruction : instructions(function)) {
    auto *root = dyn_cast<IntrinsicInst>(&instruction);
    if (root && root->getIntrinsicID() == Intrinsic::sqrt &&
        isa<FixedVectorType>(root->getType()) &&
        all_of(root->uses(), mayBeEstimated))
      roots.push_back(root);
  }
  for (IntrinsicInst *root : roots) {
    Intrinsic::ID id = estimateOf(*cast<FixedVectorType>(root->getType()));
    if (id == Intrinsic::not_intrinsic)
      continue;
    IRBuilder<> builder(root);
    Value *reciprocal = reciprocalRoot(builder, root->getArgOperand(0), id);
    for (User *user : make_early_inc_range(root->users())) {
      auto *division = cast<BinaryOperator>(user);
      builder.SetInsertPoint(division);
      Value *product =
          match(division->getOperand(0), m_FPOne())
              ? reciprocal
              : builder.CreateFMul(division->getOperand(0), reciprocal);
      division->replaceAllUsesWith(product);
      division->eraseFromParent();
    }
    root->eraseFromParent();
  }
}
