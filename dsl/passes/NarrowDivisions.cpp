// Makes divisions of what is known to be small ones of 32 bits.
#include "dsl/passes/Passes.h"
#include "dsl/threads/Ranges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace quern {
#define GEN_PASS_DEF_QNNARROWDIVISIONS
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

/// Numbers from 0 on below it are held by 32 bits without a sign.
static constexpr std::int64_t smallLimit = std::int64_t(1) << 32;

namespace {

/// Whether a division, whose divisor is never 0, has two small numbers.
bool isSmall(const Ranges &ranges, Value left, Value right, Operation *at) {
  return left.getType().isInteger(64) &&
         ranges.isWithin(right, 0, smallLimit - 1) &&
         ranges.isInside(left, "", smallLimit, at);
}

template <typename Op> struct InRanges : OpRewritePattern<Op> {
  InRanges(MLIRContext *context, const Ranges &ranges)
      : OpRewritePattern<Op>(context), ranges(ranges) {}

  const Ranges &ranges;
};

template <typename Division, typename Narrow>
struct NarrowDivision : InRanges<Division> {
  using InRanges<Division>::InRanges;

  LogicalResult matchAndRewrite(Division op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(this->ranges, op.getLhs(), op.getRhs(), op))
      return failure();
    Type narrow = rewriter.getI32Type();
    auto cut = [&](Value value) -> Value {
      return arith::TruncIOp::create(rewriter, op.getLoc(), narrow, value);
    };
    Value result = Narrow::create(rewriter, op.getLoc(), cut(op.getLhs()),
                                  cut(op.getRhs()));
    rewriter.replaceOpWithNewOp<arith::ExtUIOp>(op, op.getType(), result);
    return success();
  }
};

/// What a division leaves, where the text of the kernel has made it of the
/// quotient.
struct RestOfDivision : InRanges<arith::SubIOp> {
  using InRanges::InRanges;

  LogicalResult matchAndRewrite(arith::SubIOp op,
                                PatternRewriter &rewriter) const override {
    auto product = op.getRhs().getDefiningOp<arith::MulIOp>();
    auto quotient = product ? product.getLhs().getDefiningOp<arith::DivSIOp>()
                            : arith::DivSIOp();
    if (!quotient || quotient.getLhs() != op.getLhs() ||
        quotient.getRhs() != product.getRhs() ||
        !isSmall(ranges, quotient.getLhs(), quotient.getRhs(), op))
      return failure();
    rewriter.replaceOpWithNewOp<arith::RemSIOp>(op, quotient.getLhs(),
                                                quotient.getRhs());
    return success();
  }
};

/// A comparison that holds for all threads and arguments, or for none.
struct KnownComparison : InRanges<arith::CmpIOp> {
  using InRanges::InRanges;

  LogicalResult matchAndRewrite(arith::CmpIOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getLhs().getType().isSignlessInteger())
      return failure();
    auto predicate = static_cast<intrange::CmpPredicate>(op.getPredicate());
    std::optional<bool> holds = intrange::evaluatePred(
        predicate, ranges.range(op.getLhs()), ranges.range(op.getRhs()));
    if (!holds)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, rewriter.getBoolAttr(*holds));
    return success();
  }
};

class NarrowDivisions
    : public quern::impl::QnNarrowDivisionsBase<NarrowDivisions> {
public:
  using QnNarrowDivisionsBase::QnNarrowDivisionsBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<qn::KernelOp>())
      visit(kernel);
  }

private:
  void visit(qn::KernelOp kernel) {
    // Warps are at most as long as blocks.
    Ranges ranges(kernel, maximumThreads);
    kernel.walk([&](Operation *op) {
      if (!isa<qn::BarrierOp, qn::CombineOp, qn::PrefixOp>(op))
        return;
      // Around a barrier one thread decides for all.
      for (; op != kernel; op = op->getParentOp())
        ranges.distrust(op);
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowDivision<arith::DivSIOp, arith::DivUIOp>,
                 NarrowDivision<arith::RemSIOp, arith::RemUIOp>, RestOfDivision,
                 KnownComparison>(&getContext(), ranges);
    FrozenRewritePatternSet frozen(std::move(patterns));
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    for (bool isChanged = true; isChanged;) {
      // The host computes what stands in front of the launch.
      SmallVector<Operation *> own;
      for (Operation *op = kernel.launch()->getNextNode(); op;
           op = op->getNextNode())
        op->walk([&](Operation *inner) { own.push_back(inner); });
      isChanged = false;
      (void)applyOpPatternsGreedily(own, frozen, config, &isChanged);
    }
  }
};

} // namespace
