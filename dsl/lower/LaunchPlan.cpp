// Builds the plan function of a launch: its units, their grain, its workspace.
#include "dsl/lower/Launch.h"

#include "dsl/dialect/ScheduleOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace quern;

/// The extent of an axis, or of several that are flattened.
Value LaunchBuilder::extent(Frame &root, const AxisPlan &axis) {
  if (launch.kind == LaunchKind::ColumnParts) {
    if (axis.axis == launch.columns->rows)
      return columns->rowCount(root);
    if (axis.axis == launch.columns->lane)
      return columns->width(root);
  }
  if (launch.kind == LaunchKind::SumParts && &axis == &launch.axes.back())
    return contraction->partedExtent(root);
  SmallVector<unsigned> axes{axis.axis};
  llvm::append_range(axes, axis.with);
  if (axes.size() == 1)
    return emitter.extent(root, axis.axis);
  return FlatAxes(emitter, model, axes).extent(root);
}

/// Elements of a tile of an axis.
Value LaunchBuilder::tile(Frame &root, const AxisPlan &axis) {
  if (launch.kind == LaunchKind::SumParts && &axis == &launch.axes.back())
    return emitter.emit(root, launch.tiling->part, 0);
  Value whole = wholeTile(root, axis);
  if (!axis.evenCount)
    return whole;
  auto parts = [&](Value value, Value step) -> Value {
    Value one = emitter.constant(root, 1);
    OpBuilder &b = emitter.in(root);
    Value more = arith::SubIOp::create(b, loc, step, one);
    more = arith::AddIOp::create(b, loc, value, more);
    return arith::DivUIOp::create(b, loc, more, step);
  };
  auto upTo = [&](Value value, Value step) -> Value {
    Value count = parts(value, step);
    return arith::MulIOp::create(emitter.in(root), loc, count, step);
  };
  Value extent = this->extent(root, axis), one = emitter.constant(root, 1);
  Value several = emitter.constant(root, axis.evenCount);
  extent = arith::MaxUIOp::create(emitter.in(root), loc, extent, one);
  Value count = parts(extent, whole);
  // One stays one: its columns would be packed twice.
  Value isOne = arith::CmpIOp::create(emitter.in(root), loc,
                                      arith::CmpIPredicate::eq, count, one);
  several = arith::SelectOp::create(emitter.in(root), loc, isOne, one, several);
  count = upTo(count, several);
  return upTo(parts(extent, count), emitter.constant(root, axis.evenStep));
}

/// Elements of a tile that nothing makes smaller.
Value LaunchBuilder::wholeTile(Frame &root, const AxisPlan &axis) {
  Value wide = emitter.constant(root, axis.tile);
  if (!axis.narrow)
    return wide;
  auto below = [&](Value extent, std::int64_t bound, Value yes,
                   Value no) -> Value {
    Value most = emitter.constant(root, bound);
    OpBuilder &b = emitter.in(root);
    Value isBelow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, extent, most);
    return arith::SelectOp::create(b, loc, isBelow, yes, no);
  };
  if (axis.several)
    wide = below(this->extent(root, axis), axis.severalFrom, wide,
                 emitter.constant(root, axis.several));
  Value extent = axis.narrowBy.empty()
                     ? this->extent(root, axis)
                     : FlatAxes(emitter, model, axis.narrowBy).extent(root);
  return below(extent, axis.narrowBelow, emitter.constant(root, axis.narrow),
               wide);
}

/// How many tiles an axis has.
Value LaunchBuilder::tiles(Frame &root, const AxisPlan &axis) {
  Value extent = this->extent(root, axis);
  if (!axis.isTiled())
    return extent;
  Value more = emitter.constant(root, axis.tile - 1);
  Value tile = this->tile(root, axis);
  if (axis.narrow || axis.evenCount || launch.kind == LaunchKind::SumParts) {
    Value one = emitter.constant(root, 1);
    more = arith::SubIOp::create(emitter.in(root), loc, tile, one);
  }
  OpBuilder &b = emitter.in(root);
  Value sum = arith::AddIOp::create(b, loc, extent, more);
  return arith::DivUIOp::create(b, loc, sum, tile);
}

/// How many positions a local axis has, or some number where places decide.
Value LaunchBuilder::localExtent(Frame &root, unsigned axis) {
  constexpr std::int64_t some = 8;
  qn::AxisOp local = model.localAxis(axis);
  if (target.isGpu() || model.axesOf(local.getLower()) ||
      model.axesOf(local.getUpper()) || !qn::isOfHost(local.getLower()) ||
      !qn::isOfHost(local.getUpper()))
    return emitter.constant(root, some);
  Value lower = emitter.emit(root, local.getLower(), 0);
  Value upper = emitter.emit(root, local.getUpper(), 0);
  Value one = emitter.constant(root, 1);
  OpBuilder &b = emitter.in(root);
  Value length = arith::SubIOp::create(b, loc, upper, lower);
  return arith::MaxSIOp::create(b, loc, length, one);
}

/// The summed axes that parts of a sum are cut along.
static AxisSet partedAxes(const Product &product) {
  AxisSet axes;
  for (unsigned axis : product.sums)
    if (!product.window || axis == product.sums.back())
      axes |= axisBit(axis);
  return axes;
}

/// About how many elements a unit walks over.
Value LaunchBuilder::elements(Frame &root) {
  AxisSet all = launch.parallel;
  for (qn::StoreOp store : launch.stores) {
    ValueFacts facts = model.factsOf(store);
    all |= facts.axes | facts.combined;
  }
  if (launch.scatter)
    all |= model.scatterAxes(launch.scatter);
  if (launch.sort)
    all |= model.factsOf(launch.sort).axes;
  for (qn::ReduceOp op : launch.reductions)
    all |= model.axesOf(op.getAxes());
  Value product = emitter.constant(root, 1);
  auto times = [&](Value factor) {
    product = arith::MulIOp::create(emitter.in(root), loc, product, factor);
  };
  if (launch.kind == LaunchKind::ColumnParts)
    all &= ~axisBit(launch.columns->rows);
  if (launch.kind == LaunchKind::SumParts)
    all &= ~partedAxes(launch.tiling->products[0]);
  for (unsigned axis = 0; axis < model.declaredAxes(); ++axis)
    if (hasAxis(all & ~launch.parallel, axis))
      times(emitter.extent(root, axis));
  for (unsigned axis = model.declaredAxes(); axis < model.axisCount(); ++axis)
    if (hasAxis(all, axis))
      times(localExtent(root, axis));
  for (const AxisPlan &axis : launch.axes)
    if (axis.isTiled()) {
      Value tile = this->tile(root, axis);
      Value extent = this->extent(root, axis);
      times(arith::MinUIOp::create(emitter.in(root), loc, tile, extent));
    }
  return product;
}

/// How many units, of which each walks over `work` elements, run before
/// anybody asks whether the call is to go on: some 20 ms of them. Of rounds
/// that only values decide, one task: what they cost shows when they run.
Value LaunchBuilder::unasked(Frame &root, Value work, Value grain) {
  constexpr std::int64_t tasks = 4096;
  bool isOpen = false;
  for (unsigned axis = model.declaredAxes(); axis < model.axisCount(); ++axis) {
    qn::AxisOp local = model.localAxis(axis);
    isOpen |=
        !qn::isOfHost(local.getLower()) || !qn::isOfHost(local.getUpper());
  }
  model.kernel.getBody().walk([&](scf::WhileOp) { isOpen = true; });
  if (isOpen)
    return grain;
  Value worth = emitter.constant(root, launch.taskElements * tasks);
  OpBuilder &b = emitter.in(root);
  Value units = arith::DivUIOp::create(b, loc, worth, work);
  return arith::MaxUIOp::create(b, loc, units, grain);
}

void LaunchBuilder::buildPlan(ModuleOp module, StringRef name) {
  Block *entry = function(module, name, 0);
  Frame root;
  root.block = entry;
  Value units = emitter.constant(root, 1), bytes = workspace(root);
  Value own = ownWorkspace(root);
  for (const AxisPlan &axis : launch.axes) {
    Value count = tiles(root, axis);
    units = arith::MulIOp::create(emitter.in(root), loc, units, count);
  }
  if (launch.kind == LaunchKind::Merge || launch.kind == LaunchKind::Begins)
    units = emitter.constant(root, 1);
  Value one = emitter.constant(root, 1);
  Value work = elements(root);
  Value worth = emitter.constant(root, launch.taskElements);
  OpBuilder &b = emitter.in(root);
  work = arith::MaxUIOp::create(b, loc, work, one);
  Value grain = arith::DivUIOp::create(b, loc, worth, work);
  grain = arith::MaxUIOp::create(b, loc, grain, one);
  writePlan(b, loc, entry->getArgument(1),
            {units, grain, bytes, own, unasked(root, work, grain)});
  LLVM::ReturnOp::create(b, loc, ValueRange());
}
