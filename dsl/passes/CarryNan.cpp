// Lets a maximum or minimum ignore NaN and carry the last one beside it: two
// short chains instead of one long one; or makes it one of integers.
#include "dsl/dialect/Dialect.h"
#include "dsl/passes/Passes.h"

namespace quern {
#define GEN_PASS_DEF_QNCARRYNAN
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

/// The one operation of a reduction that only takes a maximum or a minimum.
static Operation *extremum(qn::ReduceOp op) {
  if (op.getOrdered() || op.getInputs().size() != 1 ||
      op.getInits().size() != 1)
    return nullptr;
  Operation *found = nullptr;
  for (Region *region : {&op.getStep(), &op.getMerge()}) {
    Block &block = region->front();
    Operation *first = &block.front();
    if (!isa<arith::MaximumFOp, arith::MinimumFOp>(first) ||
        block.getTerminator()->getOperand(0) != first->getResult(0) ||
        first->getNextNode() != block.getTerminator() ||
        !llvm::is_contained(first->getOperands(), block.getArgument(0)) ||
        !llvm::is_contained(first->getOperands(), block.getArgument(1)) ||
        (found && found->getName() != first->getName()))
      return nullptr;
    found = first;
  }
  return found;
}

/// `greater ? new : old` and `new` where it is a NaN; the NaN of `new` does not
/// compare, so the first never sees one.
static void fill(OpBuilder &builder, Region &region, Location loc, Type type,
                 bool merge, arith::CmpFPredicate better) {
  Block &block = region.emplaceBlock();
  SmallVector<Type> types(merge ? 4 : 3, type);
  block.addArguments(types, SmallVector<Location>(types.size(), loc));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  Value old = block.getArgument(0), seen = block.getArgument(1);
  Value now = block.getArgument(2), nan = block.getArgument(merge ? 3 : 2);
  Value wins = arith::CmpFOp::create(builder, loc, better, now, old);
  Value best = arith::SelectOp::create(builder, loc, wins, now, old);
  Value is =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, nan, nan);
  Value kept = arith::SelectOp::create(builder, loc, is, nan, seen);
  qn::YieldOp::create(builder, loc, ValueRange{best, kept});
}

static void split(qn::ReduceOp op, Operation *extremum) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value init = op.getInits()[0];
  auto better = isa<arith::MaximumFOp>(extremum) ? arith::CmpFPredicate::OGT
                                                 : arith::CmpFPredicate::OLT;
  auto made =
      qn::ReduceOp::create(builder, loc, op.getInputs(), ValueRange{init, init},
                           op.getWhere(), op.getAxes(), false, false);
  fill(builder, made.getStep(), loc, init.getType(), false, better);
  fill(builder, made.getMerge(), loc, init.getType(), true, better);
  Value best = made->getResult(0), nan = made->getResult(1);
  Value is =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, nan, nan);
  op->getResult(0).replaceAllUsesWith(
      arith::SelectOp::create(builder, loc, is, nan, best));
  op.erase();
}

namespace {
/// Floats as integers of the same order, a NaN at the end where it stays.
struct Keys {
  OpBuilder &builder;
  Location loc;
  FloatType type;
  bool isMaximum;

  Value number(std::int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, type.getWidth());
  }
  /// The bits of negative floats without their sign count downwards.
  Value turned(Value bits) {
    Value sign =
        arith::ShRSIOp::create(builder, loc, bits, number(type.getWidth() - 1));
    std::int64_t rest = llvm::maxIntN(type.getWidth());
    Value mask = arith::AndIOp::create(builder, loc, sign, number(rest));
    return arith::XOrIOp::create(builder, loc, bits, mask);
  }
  /// A NaN is chosen among keys: among floats LLVM takes any NaN for as good.
  Value keyOf(Value value) {
    APFloat nan = APFloat::getQNaN(type.getFloatSemantics(), !isMaximum);
    APInt last = nan.bitcastToAPInt();
    if (last.isNegative())
      last ^= APInt::getSignedMaxValue(type.getWidth());
    auto bits = builder.getIntegerType(type.getWidth());
    Value key = turned(arith::BitcastOp::create(builder, loc, bits, value));
    Value is = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                     value, value);
    return arith::SelectOp::create(builder, loc, is,
                                   number(last.getSExtValue()), key);
  }
  Value floatOf(Value key) {
    return arith::BitcastOp::create(builder, loc, type, turned(key));
  }
  void fill(Region &region) {
    auto bits = builder.getIntegerType(type.getWidth());
    Block &block = region.emplaceBlock();
    block.addArguments({bits, bits}, {loc, loc});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    Value old = block.getArgument(0), now = block.getArgument(1), best;
    if (isMaximum)
      best = arith::MaxSIOp::create(builder, loc, old, now);
    else
      best = arith::MinSIOp::create(builder, loc, old, now);
    qn::YieldOp::create(builder, loc, best);
  }
};
} // namespace

/// A portable one gives the same zero and the same bits in any order, once
/// zeros and NaN have an order, too: so it is one of free order.
static void useKeys(qn::ReduceOp op, Operation *extremum) {
  auto type = cast<FloatType>(op.getInits()[0].getType());
  if (type.getWidth() < 32 || type.getWidth() > 64)
    return;
  OpBuilder builder(op);
  Keys keys{builder, op.getLoc(), type, isa<arith::MaximumFOp>(extremum)};
  Value input = keys.keyOf(op.getInputs()[0]);
  Value init = keys.keyOf(op.getInits()[0]);
  auto made = qn::ReduceOp::create(builder, op.getLoc(), input, init,
                                   op.getWhere(), op.getAxes(), false, false);
  keys.fill(made.getStep());
  keys.fill(made.getMerge());
  op->getResult(0).replaceAllUsesWith(keys.floatOf(made->getResult(0)));
  op.erase();
}

namespace {
struct QnCarryNanPass : quern::impl::QnCarryNanBase<QnCarryNanPass> {
  void runOnOperation() override {
    getOperation().walk([](qn::ReduceOp op) {
      Operation *found = extremum(op);
      if (found && op.getPortable())
        useKeys(op, found);
      else if (found)
        split(op, found);
    });
  }
};
} // namespace
