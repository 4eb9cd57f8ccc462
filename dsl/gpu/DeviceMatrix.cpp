// Matrix instructions, and the copies that feed them, of NVIDIA.
#include "dsl/gpu/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

void Device::multiply(Location loc, ValueRange left, ValueRange right,
                      MutableArrayRef<Value> sums) {
  bool isHalf = isa<VectorType>(left.front().getType());
  SmallVector<Value> arguments(left);
  llvm::append_range(arguments, right);
  llvm::append_range(arguments, sums);
  SmallVector<Type> parts(4, builder.getF32Type());
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), parts);
  Value made = call(loc,
                    isHalf ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                           : "llvm.nvvm.mma.m16n8k16.row.col.bf16",
                    type, arguments);
  for (auto [number, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(
        builder, loc, made, ArrayRef<int64_t>{static_cast<int64_t>(number)});
}

SmallVector<Value> Device::loadMatrices(Location loc, Value line, bool turned,
                                        Type element) {
  SmallVector<Type> words(4, builder.getI32Type());
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), words);
  Value made = call(loc,
                    turned ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
                           : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16",
                    type, line);
  SmallVector<Value> parts;
  for (std::int64_t number = 0; number < 4; ++number) {
    Value part = LLVM::ExtractValueOp::create(builder, loc, made, number);
    if (element.isF16())
      part = LLVM::BitcastOp::create(builder, loc,
                                     VectorType::get({2}, element), part);
    parts.push_back(part);
  }
  return parts;
}

void Device::copyAsync(Location loc, Value to, Value from, Value bytes) {
  call(loc, "llvm.nvvm.cp.async.cg.shared.global.16.s", Type(),
       {to, from, bytes});
}

void Device::commitCopies(Location loc) {
  call(loc, "llvm.nvvm.cp.async.commit.group", Type(), {});
}

void Device::awaitCopies(Location loc, unsigned open) {
  call(loc, "llvm.nvvm.cp.async.wait.group", Type(), number(loc, open));
}
