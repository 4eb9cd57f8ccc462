// Refuses kernels whose values are made of too long chains.
#include "dsl/dialect/Depth.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace quern;

/// Values are made by recursion over what they are made of: so many steps fit a
/// stack of 8 MiB twice.
static constexpr unsigned deepest = 4096;

/// Steps that an operation counts for: loops and reads take more of the stack.
static unsigned stepsOf(Operation *op) {
  if (op->getNumRegions())
    return 8;
  return isa<qn::LoadOp>(op) ? 4 : 1;
}

bool quern::isTooDeep(qn::RowwiseOp kernel) {
  llvm::DenseMap<Operation *, unsigned> depths;
  auto depthOf = [&](Operation *op) {
    unsigned depth = 0;
    for (Value operand : op->getOperands())
      if (Operation *from = operand.getDefiningOp())
        depth = std::max(depth, depths.lookup(from));
    return depth + stepsOf(op);
  };
  auto found = kernel.getBody().walk([&](Operation *op) {
    unsigned depth = std::max(depths.lookup(op), depthOf(op));
    depths[op] = depth;
    if (depth > deepest) {
      op->emitError() << "a value depends on a chain of others of more than "
                      << deepest << " steps; write a loop, or several kernels";
      return WalkResult::interrupt();
    }
    if (Operation *around = op->getParentOp(); around != kernel)
      depths[around] = std::max(depths.lookup(around), depth);
    return WalkResult::advance();
  });
  return found.wasInterrupted();
}
