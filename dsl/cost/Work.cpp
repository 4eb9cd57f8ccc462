// Counts the operations that a value is made of.
#include "dsl/cost/Work.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace quern;

unsigned cost::operationsBehind(Value value,
                                llvm::function_ref<bool(Value)> isIncluded) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Value> open{value};
  unsigned count = 0;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !isIncluded(next) || !seen.insert(op).second)
      continue;
    count += OpTrait::hasElementwiseMappableTraits(op);
    llvm::append_range(open, op->getOperands());
  }
  return count;
}
