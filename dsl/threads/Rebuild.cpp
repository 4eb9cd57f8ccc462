// Branches and loops made anew: the builder of upstream's puts an end in some
// of their blocks, which is taken away again.
#include "dsl/threads/Rebuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

void quern::enter(OpBuilder &b, Block *block) {
  if (!block->empty())
    block->back().erase();
  b.setInsertionPointToEnd(block);
}

scf::IfOp
quern::rebuiltIf(OpBuilder &b, Location loc, scf::IfOp op, TypeRange types,
                 Value condition,
                 llvm::function_ref<SmallVector<Value>(Block &, bool)> side) {
  bool hasElse = !op.getElseRegion().empty();
  auto made = scf::IfOp::create(b, loc, types, condition, hasElse);
  OpBuilder::InsertionGuard guard(b);
  for (bool isElse : {false, true}) {
    if (isElse && !hasElse)
      break;
    enter(b, isElse ? made.elseBlock() : made.thenBlock());
    SmallVector<Value> yielded =
        side(isElse ? *op.elseBlock() : *op.thenBlock(), isElse);
    scf::YieldOp::create(b, loc, yielded);
  }
  return made;
}

Value quern::guardedBy(OpBuilder &b, Location loc, Value good, Type type,
                       llvm::function_ref<Value()> body) {
  if (!good)
    return body();
  SmallVector<Type> types;
  if (type)
    types.push_back(type);
  auto branch = scf::IfOp::create(b, loc, types, good, bool(type));
  OpBuilder::InsertionGuard guard(b);
  enter(b, branch.thenBlock());
  Value value = body();
  scf::YieldOp::create(b, loc, value ? ValueRange(value) : ValueRange());
  if (!type)
    return {};
  enter(b, branch.elseBlock());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  scf::YieldOp::create(b, loc, zero);
  return branch.getResult(0);
}
