// Which loops in arms also go round for lanes that do not take the arm: those
// whose values a reduction along an axis of its condition takes.
#include "dsl/irgen/Generator.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

namespace {
/// Follows the values of one loop to where another lane's may be taken. On the
/// way a choice by a condition of the loop takes that condition off: behind it
/// nobody sees what the loop gave where the condition does not hold.
class Followed {
public:
  explicit Followed(const SkippedLoop &loop) : loop(loop) {}

  bool reachesOthers() {
    Open all(loop.conditions.size(), true);
    follow(loop.both->getParentOp()->getResults(), all);
    while (!pending.empty()) {
      auto [value, open] = pending.pop_back_val();
      for (OpOperand &use : value.getUses())
        if (isForOthers(use, open))
          return true;
    }
    return false;
  }

private:
  /// Which of the loop's conditions nothing has chosen by yet.
  using Open = llvm::SmallBitVector;

  void follow(ValueRange values, const Open &open) {
    for (mlir::Value value : values) {
      Open &known = seen[value];
      if (!open.test(known))
        continue;
      known |= open;
      pending.push_back({value, known});
    }
  }

  void followInto(Operation *op, const Open &open) {
    follow(op->getResults(), open);
    for (Region &region : op->getRegions())
      follow(region.getArguments(), open);
  }

  /// `open` without the conditions that choose `isTrue`.
  Open chosen(mlir::Value condition, bool isTrue, Open open) const {
    for (auto [number, row] : llvm::enumerate(loop.conditions))
      if (row.value == condition && row.isNegated != isTrue)
        open.reset(number);
    return open;
  }

  /// Whether an open condition differs between positions of the axes.
  bool differsAlong(ArrayRef<Attribute> axes, const Open &open) const {
    for (unsigned number : open.set_bits()) {
      llvm::DenseSet<StringAttr> found;
      llvm::SmallPtrSet<Operation *, 16> behind;
      axesBehind(loop.conditions[number].value, found, behind);
      // What is read back or stands in for an axis may hang on any.
      if (llvm::any_of(behind, llvm::IsaPred<qn::AxisOp>) ||
          llvm::any_of(axes, [&](Attribute axis) {
            return found.contains(cast<StringAttr>(axis));
          }))
        return true;
    }
    return false;
  }

  bool isForOthers(OpOperand &use, Open open) {
    Operation *user = use.getOwner();
    if (auto reduce = dyn_cast<qn::ReduceOp>(user)) {
      if (differsAlong(reduce.getAxes().getValue(), open))
        return true;
    } else if (auto scan = dyn_cast<qn::ScanOp>(user)) {
      if (differsAlong({scan.getAxisAttr()}, open))
        return true;
    } else if (auto sort = dyn_cast<qn::SortOp>(user)) {
      if (differsAlong({sort.getAxisAttr()}, open))
        return true;
    } else if (auto store = dyn_cast<qn::StoreOp>(user)) {
      auto kernel = cast<qn::RowwiseOp>(user->getParentOp());
      auto tensor = cast<BlockArgument>(store.getTensor());
      return tensor.getArgNumber() >= kernel.callerArguments();
    } else if (auto select = dyn_cast<arith::SelectOp>(user)) {
      if (use.getOperandNumber() != 0)
        open = chosen(select.getCondition(), use.getOperandNumber() == 1, open);
    } else if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
               branch && user->hasTrait<OpTrait::IsTerminator>()) {
      bool isThen = user->getBlock() == branch.thenBlock();
      open = chosen(branch.getCondition(), isThen, open);
    }
    if (open.none())
      return false;
    followInto(user, open);
    if (user->hasTrait<OpTrait::IsTerminator>())
      followInto(user->getParentOp(), open);
    return false;
  }

  const SkippedLoop &loop;
  llvm::DenseMap<mlir::Value, Open> seen;
  SmallVector<std::pair<mlir::Value, Open>, 16> pending;
};
} // namespace

void Generator::skipFewerLoops() {
  for (SkippedLoop &loop : skippedLoops)
    if (Followed(loop).reachesOthers())
      loop.both->setOperands({loop.both.getLhs(), loop.both.getLhs()});
}
