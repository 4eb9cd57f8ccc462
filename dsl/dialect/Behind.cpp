// Follows operands and what regions take from around them.
#include "dsl/dialect/Behind.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace quern;

bool quern::walkBehind(ValueRange values,
                       llvm::function_ref<WalkResult(Operation *)> visit) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Value> open = llvm::to_vector(values);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    WalkResult result = visit(op);
    if (result.wasInterrupted())
      return true;
    if (result.wasSkipped())
      continue;
    op->walk([&](Operation *inside) {
      llvm::append_range(open, inside->getOperands());
    });
  }
  return false;
}

bool quern::holdsBehind(Value value, llvm::function_ref<Found(Value)> ask) {
  llvm::SmallDenseSet<Value, 32> seen;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value each = open.pop_back_val();
    if (!seen.insert(each).second)
      continue;
    Found found = ask(each);
    if (found == Found::No)
      return false;
    if (found == Found::IfBehind)
      llvm::append_range(open, each.getDefiningOp()->getOperands());
  }
  return true;
}
