// Finds scatters that write in order and without gaps.
#include "dsl/dialect/Behind.h"
#include "dsl/passes/Passes.h"
#include "dsl/schedule/KernelModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace quern {
#define GEN_PASS_DEF_QNCOMPACT
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {
/// Numbers of the positions before each where a condition holds.
struct Ranks {
  qn::ScanOp scan;
  Value flag;
  bool isBounded = false; ///< places beyond the operand are not asked for
};
} // namespace

/// Whether a region only adds its two arguments.
static bool adds(Region &region) {
  Block &block = region.front();
  auto sum = dyn_cast<arith::AddIOp>(block.front());
  if (!sum || block.getNumArguments() != 2)
    return false;
  Value left = block.getArgument(0), right = block.getArgument(1);
  bool isBoth = (sum.getLhs() == left && sum.getRhs() == right) ||
                (sum.getLhs() == right && sum.getRhs() == left);
  return isBoth && block.getTerminator()->getOperand(0) == sum;
}

static std::optional<Ranks> ranksOf(Value index) {
  auto scan = index.getDefiningOp<qn::ScanOp>();
  if (!scan || !scan.getExclusive() || scan.getReverse() || scan.getWhere() ||
      scan.getInputs().size() != 1 || !index.getType().isInteger(64) ||
      !matchPattern(scan.getInits()[0], m_Zero()) || !adds(scan.getStep()))
    return std::nullopt;
  auto wide = scan.getInputs()[0].getDefiningOp<arith::ExtUIOp>();
  if (!wide || !wide.getIn().getType().isInteger(1))
    return std::nullopt;
  return Ranks{scan, wide.getIn()};
}

/// Whether `condition` is that a place is below the extent of `axis`.
static bool isBound(Value condition, Value place, StringAttr axis) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
      compare.getLhs() != place)
    return false;
  auto size = compare.getRhs().getDefiningOp<qn::SizeOp>();
  return size && size.getAxisAttr() == axis;
}

/// Whether a scatter asks for what its places count, and for nothing else but
/// that there is room.
static bool asksFor(qn::ScatterOp scatter, Ranks &ranks) {
  Value when = scatter.getWhen();
  if (when == ranks.flag)
    return true;
  auto both = when ? when.getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  if (!both)
    return false;
  StringAttr axis = scatter.getTensor().getType().getAxes()[0];
  Value place = scatter.getIndices()[0];
  ranks.isBounded =
      (both.getLhs() == ranks.flag && isBound(both.getRhs(), place, axis)) ||
      (both.getRhs() == ranks.flag && isBound(both.getLhs(), place, axis));
  return ranks.isBounded;
}

/// Whether a block of positions makes the values by itself.
static bool isLocal(const KernelModel &model, qn::ScatterOp scatter,
                    Ranks ranks) {
  SmallVector<Value> made(scatter.getValues());
  made.push_back(ranks.flag);
  return model.scatterAxes(scatter) ==
             axisBit(model.axisOf(ranks.scan.getAxis())) &&
         !walkBehind(made, [](Operation *op) {
           return isa<qn::ScanOp, qn::ReduceOp>(op) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
         });
}

static qn::ReduceOp countOf(OpBuilder &builder, qn::ScanOp scan) {
  auto count = qn::ReduceOp::create(
      builder, scan.getLoc(), scan.getInputs(), scan.getInits(), Value(),
      builder.getStrArrayAttr({scan.getAxis()}), /*portable=*/false,
      /*ordered=*/false);
  IRMapping same;
  scan.getStep().cloneInto(&count.getStep(), same);
  scan.getMerge().cloneInto(&count.getMerge(), same);
  return count;
}

static void compact(const KernelModel &model, qn::ScatterOp scatter) {
  if (scatter.getIndices().size() != 1 || !scatter.getMerge().empty())
    return;
  auto ranks = ranksOf(scatter.getIndices()[0]);
  if (!ranks || !asksFor(scatter, *ranks) || !isLocal(model, scatter, *ranks))
    return;
  OpBuilder builder(scatter);
  Value count = countOf(builder, ranks->scan)->getResult(0);
  qn::CompactOp::create(builder, scatter.getLoc(), scatter.getValues(),
                        scatter.getTensor(), ranks->flag, count,
                        ranks->scan.getAxisAttr(),
                        scatter.getChecked() && !ranks->isBounded);
  scatter.erase();
  if (ranks->scan->use_empty())
    ranks->scan.erase();
}

namespace {
struct QnCompactPass : quern::impl::QnCompactBase<QnCompactPass> {
  void runOnOperation() override {
    for (qn::RowwiseOp kernel : getOperation().getOps<qn::RowwiseOp>()) {
      KernelModel model(kernel);
      if (!model.valid || kernel.getStaged())
        continue;
      for (qn::ScatterOp scatter : model.scatters)
        compact(model, scatter);
    }
  }
};
} // namespace
