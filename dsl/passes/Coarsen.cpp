// Finds what ends as floats of 16 bits on a GPU, and divides, takes roots and
// calls functions there as exactly as these need.
#include "dsl/dialect/Dialect.h"
#include "dsl/passes/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

namespace quern {
#define GEN_PASS_DEF_QNCOARSEN
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

/// Floats of so many bits hide the last places of an f32.
static constexpr unsigned coarseBits = 16;

namespace {
/// What becomes of values, found once for each.
class Ends {
public:
  /// Whether all of them are floats of 16 bits, reached by arithmetic that
  /// makes of small errors small ones. What compares, takes bits or whole parts
  /// would make large ones, but for a coarse form's own choice between two that
  /// meet; what leaves the element, by a reduction or from a loop's round to
  /// the next, is not followed.
  bool areCoarse(Value value) {
    auto [known, isNew] = found.try_emplace(value, false);
    if (!isNew)
      return known->second;
    bool are = llvm::all_of(value.getUses(),
                            [&](OpOperand &use) { return isCoarse(use); });
    return found[value] = are;
  }

private:
  /// A coarse form's comparison or sign, near whose threshold both will do.
  static bool isInexactChoice(Operation *op) {
    auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
    return bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
  }

  bool isCoarse(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto rounding = dyn_cast<arith::TruncFOp>(user))
      return rounding.getType().getIntOrFloatBitWidth() <= coarseBits;
    bool takesSign = isa<math::CopySignOp>(user) && use.getOperandNumber() == 1;
    if ((isa<arith::CmpFOp>(user) || takesSign) && !isInexactChoice(user))
      return false;
    if (isa<arith::CmpFOp>(user))
      return true;
    if (isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp()))
      return areCoarse(user->getParentOp()->getResult(use.getOperandNumber()));
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
               arith::NegFOp, arith::SelectOp, arith::MaximumFOp,
               arith::MinimumFOp, math::AbsFOp, math::CopySignOp, math::FmaOp,
               math::SqrtOp, math::Exp2Op, math::Log2Op, qn::ExactOrCoarseOp>(
               user) &&
           areCoarse(user->getResult(0));
  }

  llvm::DenseMap<Value, bool> found;
};

class Coarsen : public quern::impl::QnCoarsenBase<Coarsen> {
public:
  using QnCoarsenBase::QnCoarsenBase;

  /// Users stand behind what they use: from the last to the first, each finds
  /// the uses that are left when what is behind it has been chosen.
  void runOnOperation() override {
    SmallVector<Operation *> inexact;
    getOperation().walk([&](Operation *op) {
      if (isInexact(op) && op->getResult(0).getType().isF32())
        inexact.push_back(op);
    });
    Ends ends;
    erased.clear();
    for (Operation *op : llvm::reverse(inexact)) {
      if (erased.contains(op))
        continue;
      if (isOpTriviallyDead(op))
        erase(op);
      else if (auto choice = dyn_cast<qn::ExactOrCoarseOp>(op))
        choose(choice, ends.areCoarse(choice.getResult()));
      else if (ends.areCoarse(op->getResult(0)))
        loosen(op);
    }
  }

private:
  static bool isInexact(Operation *op) {
    return isa<arith::DivFOp, math::SqrtOp, qn::ExactOrCoarseOp>(op);
  }

  void choose(qn::ExactOrCoarseOp choice, bool isCoarse) {
    choice.replaceAllUsesWith(isCoarse ? choice.getCoarse()
                                       : choice.getExact());
    erase(choice);
  }

  /// With what stands in it and what only it used, but for what comes to its
  /// turn.
  void erase(Operation *last) {
    llvm::SmallSetVector<Operation *, 8> unused;
    unused.insert(last);
    while (!unused.empty()) {
      Operation *op = unused.pop_back_val();
      op->walk([&](Operation *inner) {
        erased.insert(inner);
        for (Value operand : inner->getOperands())
          if (Operation *before = operand.getDefiningOp())
            if (!op->isAncestor(before))
              unused.insert(before);
      });
      op->erase();
      unused.remove_if([](Operation *before) {
        return isInexact(before) || !isOpTriviallyDead(before);
      });
    }
  }

  /// An estimate has both flags and stays one.
  static void loosen(Operation *op) {
    using arith::FastMathFlags;
    auto exact = cast<arith::ArithFastMathInterface>(op);
    FastMathFlags flags = exact.getFastMathFlagsAttr().getValue();
    if (bitEnumContainsAll(flags, FastMathFlags::afn))
      return;
    flags = (flags & ~FastMathFlags::arcp) | FastMathFlags::afn;
    op->setAttr(exact.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), flags));
  }

  /// Nothing is made that could take their places.
  llvm::DenseSet<Operation *> erased;
};
} // namespace
