// Takes memory of the stack or of a worker's own workspace.
#include "dsl/lower/TaskMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

static std::int64_t sizeOf(Type element) {
  std::int64_t count = 1;
  if (auto vector = dyn_cast<VectorType>(element)) {
    count = vector.getNumElements();
    element = vector.getElementType();
  }
  return count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Value TaskMemory::reserve(OpBuilder &b, Frame &root, Type element,
                          std::int64_t count) {
  Location loc = b.getUnknownLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  std::int64_t bytes = llvm::alignTo(count * sizeOf(element), alignment);
  if (root.block != task || stack + bytes <= mostOnStack) {
    stack += root.block == task ? bytes : 0;
    // Behind a loop LLVM takes room anew instead of once for the function.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(root.block);
    Value number =
        arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(count));
    return LLVM::AllocaOp::create(b, loc, pointer, element, number, alignment);
  }
  if (!base)
    base = start(root);
  std::int64_t offset = own;
  own += bytes;
  return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}
