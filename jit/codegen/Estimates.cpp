// Divisions, roots, exponentials and logarithms of f32 that may be inexact, by
// the instructions a GPU has for them.
#include "jit/codegen/Codegen.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace {

/// A division or a call on f32.
bool mayBeInexact(const Instruction &instruction) {
  return (instruction.getOpcode() == Instruction::FDiv ||
          isa<IntrinsicInst>(instruction)) &&
         isa<FPMathOperator>(instruction) && instruction.hasApproxFunc() &&
         instruction.getType()->getScalarType()->isFloatTy();
}

/// `afn` says that it may be inexact; `arcp` beside it that it is an estimate,
/// which takes what is below the normal range for zero.
bool isEstimate(const Instruction &instruction) {
  return instruction.hasApproxFunc() && instruction.hasAllowReciprocal();
}

struct Estimates {
  bool isNvptx;

  Intrinsic::ID either(Intrinsic::ID nvptx, Intrinsic::ID amdgpu) const {
    return isNvptx ? nvptx : amdgpu;
  }

  /// The intrinsic on every lane of vectors.
  static Value *onLanes(IRBuilder<> &builder, Intrinsic::ID id,
                        ArrayRef<Value *> operands) {
    Type *single = builder.getFloatTy();
    bool isOverloaded = Intrinsic::isOverloaded(id);
    auto one = [&](ArrayRef<Value *> values) -> Value * {
      if (isOverloaded)
        return builder.CreateIntrinsic(id, {single}, values);
      return builder.CreateIntrinsic(id, values);
    };
    auto *type = dyn_cast<FixedVectorType>(operands.front()->getType());
    if (!type)
      return one(operands);
    Value *made = PoisonValue::get(type);
    for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
      SmallVector<Value *, 2> values;
      for (Value *operand : operands)
        values.push_back(builder.CreateExtractElement(operand, lane));
      made = builder.CreateInsertElement(made, one(values), lane);
    }
    return made;
  }

  /// A quotient within two units of the last place over the whole range.
  Value *divided(IRBuilder<> &builder, BinaryOperator *division) const {
    Value *left = division->getOperand(0), *right = division->getOperand(1);
    if (isEstimate(*division)) {
      Value *reciprocal = onLanes(
          builder,
          either(Intrinsic::nvvm_rcp_approx_ftz_f, Intrinsic::amdgcn_rcp),
          {right});
      if (PatternMatch::match(left, PatternMatch::m_FPOne()))
        return reciprocal;
      return builder.CreateFMul(left, reciprocal);
    }
    if (!isNvptx) {
      division->setHasApproxFunc(false);
      return nullptr;
    }
    Value *root = approximateRootOf(right);
    if (!root)
      return onLanes(builder, Intrinsic::nvvm_div_full, {left, right});
    Value *reciprocal =
        onLanes(builder, Intrinsic::nvvm_rsqrt_approx_f, {root});
    if (PatternMatch::match(left, PatternMatch::m_FPOne()))
      return reciprocal;
    return builder.CreateFMul(left, reciprocal);
  }

  /// What an inexact root, not made an instruction yet, is taken of.
  static Value *approximateRootOf(Value *value) {
    auto *root = dyn_cast<IntrinsicInst>(value);
    bool isOne = root && root->getIntrinsicID() == Intrinsic::sqrt &&
                 root->hasApproxFunc() && root->hasOneUse();
    return isOne ? root->getArgOperand(0) : nullptr;
  }

  Value *called(IRBuilder<> &builder, IntrinsicInst *call) const {
    Value *operand = call->getArgOperand(0);
    switch (call->getIntrinsicID()) {
    case Intrinsic::exp2:
      return onLanes(
          builder,
          either(Intrinsic::nvvm_ex2_approx_ftz, Intrinsic::amdgcn_exp2),
          operand);
    case Intrinsic::log2:
      return onLanes(
          builder,
          either(Intrinsic::nvvm_lg2_approx_ftz_f, Intrinsic::amdgcn_log),
          operand);
    case Intrinsic::sqrt:
      if (isNvptx)
        return onLanes(builder, Intrinsic::nvvm_sqrt_approx_f, operand);
      call->setHasApproxFunc(false);
      return nullptr;
    default:
      return nullptr;
    }
  }
};

} // namespace

/// AMD's back end makes the quotient and the root itself, where metadata says
/// how far they may be off.
void quern::jit::useEstimates(Function &function, bool isNvptx) {
  constexpr float unitsOff = 2.5F;
  Estimates estimates{isNvptx};
  SmallVector<Instruction *> inexact;
  for (Instruction &instruction : instructions(function))
    if (mayBeInexact(instruction))
      inexact.push_back(&instruction);
  // A division looks at the root it divides by, which stands before it.
  for (Instruction *instruction : reverse(inexact)) {
    IRBuilder<> builder(instruction);
    auto *call = dyn_cast<IntrinsicInst>(instruction);
    Value *made =
        call ? estimates.called(builder, call)
             : estimates.divided(builder, cast<BinaryOperator>(instruction));
    if (made)
      instruction->replaceAllUsesWith(made);
    if (instruction->use_empty())
      instruction->eraseFromParent();
    else
      instruction->setMetadata(
          LLVMContext::MD_fpmath,
          MDBuilder(function.getContext()).createFPMath(unitsOff));
  }
}
