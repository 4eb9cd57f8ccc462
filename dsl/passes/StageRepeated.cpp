// Stores reductions that loops within loops would make again and again.
#include "dsl/dialect/Behind.h"
#include "dsl/passes/Passes.h"
#include "dsl/passes/Staging.h"
#include "dsl/schedule/KernelModel.h"

#include "llvm/ADT/MapVector.h"
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
  /// Stores as many of them as leave none that repeats one which repeats
  /// another: schedules know what to do with one that is repeated.
  void stage();

private:
  /// A reduction that something takes values of.
  struct Source {
    qn::ReduceOp made;
    bool again = false; ///< within loops that it does not need
  };
  using Sources = llvm::SmallVector<Source, 4>;

  Sources sourcesOf(Operation *op) const;
  llvm::SmallVector<qn::ReduceOp> behind(Operation *op) const;
  bool repeats(Operation *consumer, qn::ReduceOp made) const;
  unsigned depth(Operation *op) const;
  bool repeatedBy(qn::ReduceOp op,
                  llvm::SmallVectorImpl<qn::ReduceOp> &found) const;
  void settle(Operation *op);
  bool canBeStored(qn::ReduceOp op) const;
  unsigned axesOf(qn::ReduceOp op) const {
    return model.axesOf(op->getResult(0)).count();
  }
  void store(qn::ReduceOp op);

  KernelModel model;
  llvm::MapVector<Operation *, Sources> sources;
  llvm::DenseMap<Operation *, unsigned> depths;
  llvm::SmallSetVector<qn::ReduceOp, 8> stored;
};

} // namespace

/// The nearest reductions that the values of `op` are made of.
SmallVector<qn::ReduceOp> Repeats::behind(Operation *op) const {
  SmallVector<qn::ReduceOp> found;
  SmallVector<Value> open;
  op->walk([&](Operation *inner) {
    llvm::append_range(open, inner->getOperands());
  });
  walkBehind(open, [&](Operation *made) {
    auto reduce = dyn_cast<qn::ReduceOp>(made);
    if (!reduce || reduce->getBlock() != &model.kernel.block())
      return WalkResult::advance();
    found.push_back(reduce);
    return WalkResult::skip();
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

Repeats::Sources Repeats::sourcesOf(Operation *op) const {
  Sources found;
  for (qn::ReduceOp made : behind(op))
    found.push_back({made, repeats(op, made)});
  return found;
}

/// How many reductions repeat the next one behind `op`, at most.
unsigned Repeats::depth(Operation *op) const {
  unsigned deepest = 0;
  for (const Source &source : sources.lookup(op))
    if (!stored.contains(source.made))
      deepest = std::max(deepest, depths.lookup(source.made) + source.again);
  return deepest;
}

/// Collects what `op` repeats; false where something of that cannot be stored.
bool Repeats::repeatedBy(qn::ReduceOp op,
                         SmallVectorImpl<qn::ReduceOp> &found) const {
  return llvm::all_of(sources.lookup(op), [&](const Source &source) {
    if (stored.contains(source.made))
      return true;
    if (!source.again)
      return !depths.lookup(source.made) || repeatedBy(source.made, found);
    found.push_back(source.made);
    return canBeStored(source.made);
  });
}

/// Sees to it that `op` repeats nothing that repeats another: stored is what is
/// repeated, or what repeats it, where that has fewer axes.
void Repeats::settle(Operation *op) {
  for (const Source &source : sources.lookup(op)) {
    qn::ReduceOp made = source.made;
    if (stored.contains(made) || !source.again || !depths.lookup(made))
      continue;
    SmallVector<qn::ReduceOp> inner;
    bool innerCan = repeatedBy(made, inner);
    bool isSmall = llvm::any_of(inner, [&](qn::ReduceOp repeated) {
      return axesOf(made) < axesOf(repeated);
    });
    if (canBeStored(made) && (isSmall || !innerCan))
      stored.insert(made);
    else if (innerCan)
      stored.insert_range(inner);
    for (auto &[each, itsSources] : sources)
      depths[each] = depth(each);
  }
  depths[op] = depth(op);
}

/// Writes the results to the workspace; everything reads them from there.
void Repeats::store(qn::ReduceOp op) {
  AxisSet axes = model.axesOf(op->getResult(0));
  SmallVector<StringAttr, 4> names;
  for (auto name : model.kernel.getAxes().getAsRange<StringAttr>())
    if (hasAxis(axes, model.axisOf(name)))
      names.push_back(name);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    quern::stage(model.kernel, result, names, builder);
}

void Repeats::stage() {
  if (!model.valid || model.reductions.size() < 2)
    return;
  for (Operation &op : model.kernel.block()) {
    if (!isa<qn::ReduceOp, qn::StoreOp>(op))
      continue;
    sources[&op] = sourcesOf(&op);
    settle(&op);
  }
  for (qn::ReduceOp op : stored)
    store(op);
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
