// Which loops in arms also go round for lanes that do not take the arm: those
// whose values a reduction along an axis of its condition takes.
#include "dsl/irgen/Generator.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

namespace {
/// Follows the values of one loop to where another lane's may be taken. On the
/// way a choice by a condition of the loop takes that condition off: behind it
/// nobody sees what the loop gave where the condition does not hold.
class Followed {
public:
  explicit Followed(const SkippedLoop &loop) : loop(loop) {
    assert(loop.conditions.size() < 64 && "one bit a condition");
  }

  bool reachesOthers() {
    std::uint64_t all = (std::uint64_t(1) << loop.conditions.size()) - 1;
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
  void follow(ValueRange values, std::uint64_t open) {
    for (mlir::Value value : values) {
      std::uint64_t &known = seen[value];
      if ((known | open) == known)
        continue;
      known |= open;
      pending.push_back({value, known});
    }
  }

  void followInto(Operation *op, std::uint64_t open) {
    follow(op->getResults(), open);
    for (Region &region : op->getRegions())
      follow(region.getArguments(), open);
  }

  /// `open` without the conditions that choose `isTrue`.
  std::uint64_t chosen(mlir::Value condition, bool isTrue,
                       std::uint64_t open) const {
    for (auto [number, row] : llvm::enumerate(loop.conditions))
      if (row.value == condition && row.isNegated != isTrue)
        open &= ~(std::uint64_t(1) << number);
    return open;
  }

  /// Whether an open condition differs between positions of the axes.
  bool differsAlong(ArrayRef<Attribute> axes, std::uint64_t open) const {
    for (auto [number, row] : llvm::enumerate(loop.conditions)) {
      if (!(open >> number & 1))
        continue;
      llvm::DenseSet<StringAttr> found;
      llvm::SmallPtrSet<Operation *, 16> behind;
      axesBehind(row.value, found, behind);
      // What is read back or stands in for an axis may hang on any.
      if (llvm::any_of(behind, llvm::IsaPred<qn::AxisOp>) ||
          llvm::any_of(axes, [&](Attribute axis) {
            return found.contains(cast<StringAttr>(axis));
          }))
        return true;
    }
    return false;
  }

  bool isForOthers(OpOperand &use, std::uint64_t open) {
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
      return open && tensor.getArgNumber() >= kernel.callerArguments();
    } else if (auto select = dyn_cast<arith::SelectOp>(user)) {
      if (use.getOperandNumber() != 0)
        open = chosen(select.getCondition(), use.getOperandNumber() == 1, open);
    } else if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
               branch && user->hasTrait<OpTrait::IsTerminator>()) {
      bool isThen = user->getBlock() == branch.thenBlock();
      open = chosen(branch.getCondition(), isThen, open);
    }
    if (!open)
      return false;
    followInto(user, open);
    if (user->hasTrait<OpTrait::IsTerminator>())
      followInto(user->getParentOp(), open);
    return false;
  }

  const SkippedLoop &loop;
  llvm::DenseMap<mlir::Value, std::uint64_t> seen;
  SmallVector<std::pair<mlir::Value, std::uint64_t>, 16> pending;
};
} // namespace

void Generator::skipFewerLoops() {
  for (SkippedLoop &loop : skippedLoops)
    if (Followed(loop).reachesOthers())
      loop.both->setOperands({loop.both.getLhs(), loop.both.getLhs()});
}
