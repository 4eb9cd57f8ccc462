// Choosing between two arms: selects where both are cheap, a branch elsewhere.
#include "dsl/irgen/Generator.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// Arms of more operations than this are worth a branch, when no lane takes one
/// of them.
static constexpr int cheapArm = 16;

mlir::Value Generator::predicate(bool ofPlaces) {
  mlir::Value all;
  for (const Condition &condition : conditions) {
    if (ofPlaces && !condition.isOfPlace)
      continue;
    Scalar one{ElementType::Bool, condition.value, nullptr};
    if (condition.isNegated)
      one = b.bitNot(one);
    all =
        all ? mlir::Value(b.create<arith::AndIOp>(all, one.value)) : one.value;
  }
  return all;
}

/// What speculating `block` costs; nothing where it must be speculated, since
/// reductions, axes and what is staged live outside of branches.
static std::optional<int> costOf(Block &block) {
  int cost = 0;
  for (Operation &operation : block) {
    if (isa<qn::AxisOp, qn::ReduceOp, qn::ScanOp, qn::SortOp, qn::StoreOp,
            qn::ScatterOp>(operation))
      return std::nullopt;
    // Reads and writes of threads happen where the text says so.
    if (!isMemoryEffectFree(&operation))
      cost += cheapArm + 1;
    if (operation.getNumRegions())
      cost += cheapArm;
    if (isa<arith::DivFOp>(operation))
      cost += 3;
    if (isa<arith::DivSIOp, arith::DivUIOp>(operation))
      cost += 8;
    cost += !operation.hasTrait<OpTrait::ConstantLike>();
  }
  return cost;
}

/// The same value or equal constants.
static bool isSame(mlir::Value left, mlir::Value right) {
  Attribute one, other;
  return left == right ||
         (matchPattern(left, m_Constant(&one)) &&
          matchPattern(right, m_Constant(&other)) && one == other);
}

/// The branch with results, in place of a draft that has none.
SmallVector<mlir::Value, 8> Generator::keepBranch(mlir::Operation *draft,
                                                  ValueRange left,
                                                  ValueRange right) {
  auto from = cast<scf::IfOp>(draft);
  auto final = b.create<scf::IfOp>(TypeRange(left), from.getCondition(), true);
  for (bool isThen : {true, false}) {
    Block *to = isThen ? final.thenBlock() : final.elseBlock();
    Block *source = isThen ? from.thenBlock() : from.elseBlock();
    if (!to->empty())
      to->back().erase();
    to->getOperations().splice(to->begin(), source->getOperations());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(to);
    b.create<scf::YieldOp>(isThen ? left : right);
  }
  draft->erase();
  return SmallVector<mlir::Value, 8>(final.getResults());
}

Values Generator::branch(Scalar condition, Arm whenTrue, Arm whenFalse) {
  APInt known;
  if (matchPattern(condition.value, m_ConstantInt(&known)))
    return known.isZero() ? whenFalse() : whenTrue();
  Location location = b.location;
  auto draft = b.create<scf::IfOp>(condition.value, /*withElseRegion=*/true);
  auto fill = [&](Block *block, Arm arm, bool isNegated) {
    OpBuilder::InsertionGuard guard(builder);
    if (!block->empty())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    // The branch of a thread is a real one: nothing runs in the other arm.
    if (isThreadText())
      return arm();
    conditions.push_back({condition.value, isNegated});
    Values values = arm();
    conditions.pop_back();
    return values;
  };
  Values results = fill(draft.thenBlock(), whenTrue, false);
  Values others = fill(draft.elseBlock(), whenFalse, true);
  b.location = location;
  SmallVector<mlir::Value, 8> left = flatten(results);
  SmallVector<mlir::Value, 8> right = flatten(others);
  assert(left.size() == right.size() && "arms give the same values");

  std::optional<int> costTrue = costOf(*draft.thenBlock());
  std::optional<int> costFalse = costOf(*draft.elseBlock());
  if (!costTrue || !costFalse || *costTrue + *costFalse <= cheapArm) {
    for (Block *block : {draft.thenBlock(), draft.elseBlock()})
      draft->getBlock()->getOperations().splice(draft->getIterator(),
                                                block->getOperations());
    draft->erase();
    for (auto [value, other] : llvm::zip_equal(left, right))
      if (!isSame(value, other))
        value = b.create<arith::SelectOp>(condition.value, value, other);
  } else {
    left = keepBranch(draft, left, right);
  }
  return unflatten(std::move(results), left);
}
