// Reductions of everything: parts of an axis reduced by many tasks, then
// merged.
#include "dsl/cost/Parameters.h"
#include "dsl/dialect/Behind.h"
#include "dsl/schedule/ScheduleChooser.h"

using namespace mlir;
using namespace quern;

/// Whether the values come from a scan: a part would begin it anew.
static bool takesScan(qn::ReduceOp op) {
  return walkBehind(op->getOperands(), [](Operation *from) {
    if (isa<qn::ScanOp>(from))
      return WalkResult::interrupt();
    return isa<qn::ReduceOp>(from) ? WalkResult::skip() : WalkResult::advance();
  });
}

bool ScheduleChooser::isSplit(qn::ReduceOp op) const {
  AxisSet axes = model.axesOf(op.getAxes());
  AxisSet declared = AxisSet::below(model.declaredAxes());
  unsigned first = model.axisOf(cast<StringAttr>(op.getAxes()[0]));
  return !op.getPortable() && !model.axesOf(op->getResult(0)) &&
         (axes & declared) && !takesScan(op) &&
         llvm::none_of(op->getUsers(), llvm::IsaPred<qn::CompactOp>) &&
         (!op.getOrdered() || hasAxis(declared, first));
}

/// Finds reductions whose result is one value for the whole kernel, where the
/// stores that need them have no axis that tasks could share.
void ScheduleChooser::splitReductions() {
  bool alone = false;
  if (model.kernel.getStaged()) // its launches come first
    return;
  for (qn::StoreOp store : model.stores) {
    ValueFacts facts = model.factsOf(store);
    alone |= facts.rank > 0 && !(facts.axes & ~facts.combined);
  }
  if (!alone)
    return;
  SmallVector<qn::ReduceOp> left;
  for (qn::ReduceOp op : model.reductions)
    if (isSplit(op))
      left.push_back(op);
  while (!left.empty()) {
    auto lower = [&](qn::ReduceOp a, qn::ReduceOp b) {
      return model.factsOf(a->getResult(0)).rank <
             model.factsOf(b->getResult(0)).rank;
    };
    qn::ReduceOp first = *llvm::min_element(left, lower);
    unsigned rank = model.factsOf(first->getResult(0)).rank;
    SmallVector<qn::ReduceOp> members;
    llvm::erase_if(left, [&](qn::ReduceOp op) {
      bool same = op.getAxes() == first.getAxes() &&
                  op.getOrdered() == first.getOrdered() &&
                  model.factsOf(op->getResult(0)).rank == rank;
      if (same)
        members.push_back(op);
      return same;
    });
    splitGroup(members);
  }
}

void ScheduleChooser::splitGroup(ArrayRef<qn::ReduceOp> members) {
  LaunchPlan partials;
  partials.kind = LaunchKind::Partials;
  llvm::append_range(partials.reductions, members);
  qn::ReduceOp sample = members.front();
  ArrayAttr over = sample.getAxes();
  AxisSet axes = model.axesOf(over);
  partials.lane = bestAxis(axes);
  for (auto name : over.getAsRange<StringAttr>()) {
    unsigned axis = model.axisOf(name);
    if (axis >= model.declaredAxes())
      continue;
    bool lane = static_cast<int>(axis) == partials.lane;
    partials.axes.push_back(AxisPlan{
        .axis = axis, .tile = lane ? cost::partElements : cost::partRows});
    break;
  }
  LaunchPlan merge = partials;
  merge.kind = LaunchKind::Merge;
  partials.taskElements =
      std::max<std::int64_t>(2048, 65536 / (1 + operations / 4));
  for (qn::ReduceOp op : members) {
    marked.materialise(op);
    for (Value result : op->getResults()) {
      made.offsets[result] = made.partsOffset;
      made.partsOffset += 8;
    }
  }
  launches.push_back(std::move(partials));
  launches.push_back(std::move(merge));
}

/// Parts are counted, every one learns how many stand before it, and each is
/// written apart from the others.
void ScheduleChooser::addCompact(qn::CompactOp compact) {
  unsigned axis = model.axisOf(compact.getAxis());
  LaunchPlan counts;
  counts.kind = LaunchKind::Partials;
  counts.reductions.push_back(compact.getCounting());
  counts.lane = axis;
  counts.axes.push_back(AxisPlan{.axis = axis, .tile = cost::partElements});
  counts.taskElements = 65536;
  LaunchPlan begins = counts;
  begins.kind = LaunchKind::Begins;
  begins.compact = compact;
  LaunchPlan writes = begins;
  writes.kind = LaunchKind::Compact;
  writes.parallel = axisBit(axis);
  writes.taskElements =
      std::max<std::int64_t>(2048, 32768 / (1 + operations / 4));
  launches.push_back(std::move(counts));
  launches.push_back(std::move(begins));
  launches.push_back(std::move(writes));
}
