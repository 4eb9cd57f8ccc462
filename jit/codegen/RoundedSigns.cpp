// A sign that is given to a number of 64 bits, of which 16 are left.
#include "jit/codegen/Codegen.h"

#include "llvm/ADT/APInt.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// LLVM 22 rounds the number and the one that the sign is taken of apart, and
/// to round the latter from 64 bits to 16 X86 would need a library's function.
void quern::jit::giveSignsByBits(Function &function) {
  for (Instruction &rounding : make_early_inc_range(instructions(function))) {
    Value *number, *sign, *wide;
    if (!isa<FPTruncInst>(rounding) ||
        !rounding.getType()->getScalarType()->isHalfTy() ||
        !match(rounding.getOperand(0), m_FPTrunc(m_Value(wide))) ||
        !match(wide, m_Intrinsic<Intrinsic::copysign>(m_Value(number),
                                                      m_Value(sign))))
      continue;
    auto *given = cast<Instruction>(wide);
    IRBuilder<> builder(given);
    Type *type = given->getType();
    Type *bits = type->getWithNewType(builder.getInt64Ty());
    Constant *mask = ConstantInt::get(bits, APInt::getSignMask(64));
    Value *rest = builder.CreateBitCast(number, bits);
    rest = builder.CreateAnd(rest, ConstantExpr::getNot(mask));
    Value *own = builder.CreateAnd(builder.CreateBitCast(sign, bits), mask);
    Value *made = builder.CreateBitCast(builder.CreateOr(rest, own), type);
    given->replaceAllUsesWith(made);
    given->eraseFromParent();
  }
}
