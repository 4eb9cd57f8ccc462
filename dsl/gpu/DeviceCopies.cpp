// NVIDIA's copies to shared memory that go on beside the work, and the loads of
// fragments from there.
#include "dsl/gpu/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

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
    parts.push_back(LLVM::BitcastOp::create(
        builder, loc, VectorType::get({2}, element), part));
  }
  return parts;
}

/// Sixteen bytes go past the first cache.
static std::string copyName(unsigned bytes) {
  return (bytes == 16 ? "llvm.nvvm.cp.async.cg.shared.global."
                      : "llvm.nvvm.cp.async.ca.shared.global.") +
         std::to_string(bytes);
}

void Device::copyAsync(Location loc, Value to, Value from, Value bytes,
                       unsigned most) {
  call(loc, copyName(most) + ".s", Type(), {to, from, bytes});
}

void Device::copyAsync(Location loc, Value to, Value from, unsigned bytes) {
  call(loc, copyName(bytes), Type(), {to, from});
}

void Device::commitCopies(Location loc) {
  if (hasAsyncCopies())
    call(loc, "llvm.nvvm.cp.async.commit.group", Type(), {});
}

/// None open: those that were never committed to a group too.
void Device::awaitCopies(Location loc, unsigned open) {
  if (!hasAsyncCopies())
    return;
  if (open)
    call(loc, "llvm.nvvm.cp.async.wait.group", Type(), number(loc, open));
  else
    call(loc, "llvm.nvvm.cp.async.wait.all", Type(), {});
}
