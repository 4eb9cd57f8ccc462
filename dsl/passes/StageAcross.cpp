// Copies small operands whose neighbours lie across the lanes that read them.
#include "dsl/dialect/Behind.h"
#include "dsl/passes/Passes.h"
#include "dsl/passes/Staging.h"
#include "dsl/schedule/KernelModel.h"

#include "llvm/ADT/MapVector.h"

namespace quern {
#define GEN_PASS_DEF_QNSTAGEACROSS
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {
/// Finds what the rows of one kernel would gather again and again.
class AcrossLanes {
public:
  explicit AcrossLanes(qn::RowwiseOp kernel) : model(kernel) {}
  void stage();

private:
  bool isSingle() const;
  bool liesAlong(qn::LoadOp load, unsigned lane) const;
  bool isGathered(qn::LoadOp load, AxisSet rows, unsigned lane) const;
  void look(qn::ReduceOp op, unsigned lane);
  void copy(qn::LoadOp load, unsigned lane);

  KernelModel model;
  llvm::SmallMapVector<qn::LoadOp, unsigned, 2> found; ///< and their lanes
  llvm::SmallSetVector<Attribute, 2> when;             ///< it pays to copy them
};
} // namespace

/// Whether sums are the only operations between positions.
bool AcrossLanes::isSingle() const {
  return model.valid && model.scans.empty() && model.scatters.empty() &&
         model.sorts.empty() && model.joined.empty() &&
         model.compacts.empty() && !model.kernel.getStaged();
}

/// Whether elements beside each other along an axis are neighbours.
bool AcrossLanes::liesAlong(qn::LoadOp load, unsigned lane) const {
  qn::OperandType type = load.getTensor().getType();
  if (neighboursOf(model.kernel, type) != lane)
    return false;
  if (load.getIndices().empty())
    return true;
  auto strides = llvm::zip(load.getIndices(), type.getStrides());
  return llvm::any_of(strides, [&](auto pair) {
    auto [index, stride] = pair;
    auto own = index.template getDefiningOp<qn::IndexOp>();
    return stride == StrideClass::One && own &&
           model.axisOf(own.getAxis()) == lane;
  });
}

/// Whether an operand is read at its own axes, across the lanes, and the same
/// for several of the rows.
bool AcrossLanes::isGathered(qn::LoadOp load, AxisSet rows,
                             unsigned lane) const {
  AxisSet axes = model.axesOf(load.getResult());
  return load->getBlock() == &model.kernel.block() &&
         load.getIndices().empty() && isa<FloatType>(load.getType()) &&
         hasAxis(axes, lane) && !liesAlong(load, lane) &&
         !(axes & ~AxisSet::below(model.declaredAxes())) && rows & ~axes;
}

/// Where all that is summed has the lanes: what has not is a column of a
/// product, which packs what it reads.
void AcrossLanes::look(qn::ReduceOp op, unsigned lane) {
  AxisSet rows = model.axesOf(op->getResult(0));
  if (!hasAxis(rows, lane))
    return;
  SmallVector<qn::LoadOp> loads;
  walkBehind(op.getInputs(), [&](Operation *made) {
    if (auto load = dyn_cast<qn::LoadOp>(made))
      loads.push_back(load);
    return isa<qn::ReduceOp>(made) ? WalkResult::skip() : WalkResult::advance();
  });
  auto has = [&](qn::LoadOp load) {
    return hasAxis(model.axesOf(load.getResult()), lane);
  };
  auto lies = [&](qn::LoadOp load) { return liesAlong(load, lane); };
  if (!llvm::all_of(loads, has) || llvm::none_of(loads, lies))
    return;
  for (qn::LoadOp load : loads)
    if (isGathered(load, rows, lane)) {
      found.insert({load, lane});
      addRepeats(model, model.axesOf(load.getTensor().getType()), rows, when);
    }
}

/// The lanes' axis comes last.
void AcrossLanes::copy(qn::LoadOp load, unsigned lane) {
  SmallVector<StringAttr, 4> names;
  for (bool isLane : {false, true})
    for (StringAttr name : load.getTensor().getType().getAxes())
      if ((model.axisOf(name) == lane) == isLane)
        names.push_back(name);
  OpBuilder builder(load.getContext());
  builder.setInsertionPointAfter(load);
  quern::stage(model.kernel, load.getResult(), names, builder);
}

void AcrossLanes::stage() {
  if (!isSingle())
    return;
  for (qn::StoreOp store : model.stores) {
    qn::OperandType type = store.getTensor().getType();
    std::optional<unsigned> lane = neighboursOf(model.kernel, type);
    for (qn::ReduceOp op : model.reductions)
      if (lane)
        look(op, *lane);
  }
  if (found.empty())
    return;
  keepOtherForm(model.kernel, when.getArrayRef());
  for (auto [load, lane] : found)
    copy(load, lane);
}

namespace {
struct QnStageAcrossPass : quern::impl::QnStageAcrossBase<QnStageAcrossPass> {
  void runOnOperation() override {
    for (auto kernel : llvm::to_vector(getOperation().getOps<qn::RowwiseOp>()))
      AcrossLanes(kernel).stage();
  }
};
} // namespace
