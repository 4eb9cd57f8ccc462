// Stores reductions that loops within loops would make again and again.
#include "dsl/passes/Passes.h"
#include "dsl/schedule/KernelModel.h"

#include "llvm/ADT/SetVector.h"

namespace quern {
#define GEN_PASS_DEF_QNSTAGEREPEATED
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {

/// Finds the reductions that are made again within the loops of others, and how
/// often one of those within the next.
class Repeats {
public:
  explicit Repeats(qn::RowwiseOp kernel) : model(kernel) {}
  /// Stores them, unless they repeat each other once at most: schedules know
  /// what to do with that.
  void stage();

private:
  void stage(qn::ReduceOp op);
  void addConsumer(Operation *op);
  llvm::SmallVector<qn::ReduceOp> behind(Operation *op) const;
  bool repeats(Operation *consumer, qn::ReduceOp made) const;
  bool canBeStored(qn::ReduceOp op) const;

  KernelModel model;
  llvm::DenseMap<Operation *, unsigned> depths;
  llvm::SmallSetVector<qn::ReduceOp, 8> repeated;
  unsigned deepest = 0;
};

} // namespace

/// The nearest reductions that the values of `op` are made of.
SmallVector<qn::ReduceOp> Repeats::behind(Operation *op) const {
  SmallVector<qn::ReduceOp> found;
  SmallVector<Operation *> open{op};
  llvm::SmallPtrSet<Operation *, 32> seen;
  Block &block = model.kernel.block();
  while (!open.empty())
    open.pop_back_val()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *made = operand.getDefiningOp();
        if (made)
          made = block.findAncestorOpInBlock(*made);
        if (!made || !seen.insert(made).second)
          continue;
        if (auto reduce = dyn_cast<qn::ReduceOp>(made))
          found.push_back(reduce);
        else
          open.push_back(made);
      }
    });
  return found;
}

static void append(SmallVectorImpl<unsigned> &order, const AxisSet &axes,
                   unsigned count) {
  for (unsigned axis = 0; axis < count; ++axis)
    if (hasAxis(axes, axis))
      order.push_back(axis);
}

/// Whether the loops of `consumer`, those of its results outermost, run along
/// an axis that `made` does not have around one that it has.
bool Repeats::repeats(Operation *consumer, qn::ReduceOp made) const {
  SmallVector<unsigned> order;
  if (auto store = dyn_cast<qn::StoreOp>(consumer)) {
    append(order, model.factsOf(store).axes, model.axisCount());
  } else if (auto reduce = dyn_cast<qn::ReduceOp>(consumer)) {
    AxisSet over = model.axesOf(reduce.getAxes());
    append(order, model.axesOf(reduce->getResult(0)) & ~over,
           model.axisCount());
    append(order, over, model.axisCount());
  }
  AxisSet own = model.axesOf(made->getResult(0));
  bool isMissing = false;
  for (unsigned axis : order) {
    bool has = hasAxis(own, axis);
    if (has && isMissing)
      return true;
    isMissing |= !has;
  }
  return false;
}

bool Repeats::canBeStored(qn::ReduceOp op) const {
  AxisSet declared = AxisSet::below(model.declaredAxes());
  return op->getBlock() == &model.kernel.block() &&
         !(model.axesOf(op->getResult(0)) & ~declared);
}

void Repeats::addConsumer(Operation *op) {
  unsigned found = 0;
  for (qn::ReduceOp made : behind(op)) {
    bool again = repeats(op, made);
    found = std::max(found, depths.lookup(made) + again);
    if (again && canBeStored(made))
      repeated.insert(made);
  }
  depths[op] = found;
  deepest = std::max(deepest, found);
}

/// Writes the results to the workspace; everything reads them from there.
void Repeats::stage(qn::ReduceOp op) {
  AxisSet axes = model.axesOf(op->getResult(0));
  SmallVector<StringAttr, 4> names;
  for (auto name : model.kernel.getAxes().getAsRange<StringAttr>())
    if (hasAxis(axes, model.axisOf(name)))
      names.push_back(name);
  Location loc = op.getLoc();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type type = result.getType();
    BlockArgument tensor = model.kernel.addStaged(type, names, loc);
    auto store = qn::StoreOp::create(builder, loc, result, tensor, nullptr);
    Value read = qn::LoadOp::create(builder, loc, type, tensor, ValueRange(),
                                    Value(), Value(), false, nullptr);
    result.replaceAllUsesExcept(read, store);
  }
}

void Repeats::stage() {
  if (!model.valid || model.reductions.size() < 2)
    return;
  for (Operation &op : model.kernel.block())
    if (isa<qn::ReduceOp, qn::StoreOp>(op))
      addConsumer(&op);
  if (deepest < 2)
    return;
  for (qn::ReduceOp op : repeated)
    stage(op);
}

namespace {
struct QnStageRepeatedPass
    : quern::impl::QnStageRepeatedBase<QnStageRepeatedPass> {
  void runOnOperation() override {
    for (qn::RowwiseOp kernel : getOperation().getOps<qn::RowwiseOp>())
      Repeats(kernel).stage();
  }
};
} // namespace
