// Builds the task function of a launch.
#include "dsl/lower/Launch.h"
#include "dsl/lower/Mark.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

LaunchBuilder::LaunchBuilder(const KernelModel &model, const Schedule &schedule,
                             const LaunchPlan &launch, const TargetInfo &target,
                             const Packet &packet, Emitter &emitter,
                             OpBuilder &builder)
    : model(model), schedule(schedule), launch(launch), target(target),
      packet(packet), emitter(emitter), builder(builder),
      loc(model.kernel.getLoc()) {
  emitter.launch = &launch;
  findWanted();
  findDots();
  // Threads share a row in passes of different steps: what one keeps another
  // would read.
  if (!target.isGpu())
    emitter.findKept();
  emitter.buffered.clear();
  emitter.limits.clear();
  emitter.grouped.clear();
  emitter.inside.clear();
  std::int64_t start = llvm::alignTo(schedule.partsOffset, 64);
  if (launch.tiling)
    contraction.emplace(emitter, model, *launch.tiling, target, launch.stores,
                        start, builder);
  if (launch.blocks)
    rowBlocks.emplace(emitter, model, *launch.blocks, target, launch.stores,
                      start, builder);
  if (launch.columns)
    columns.emplace(emitter, model, *launch.columns, launch.stores, start,
                    builder);
}

/// The reductions some store of the launch needs.
void LaunchBuilder::findWanted() {
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Operation *> open(launch.stores.begin(), launch.stores.end());
  if (launch.scatter)
    open.push_back(launch.scatter);
  if (launch.sort)
    open.push_back(launch.sort);
  if (launch.compact)
    open.push_back(launch.compact);
  for (qn::ReduceOp op : launch.reductions)
    open.push_back(op);
  emitter.wanted.clear();
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!seen.insert(op).second || (model.isMaterialised(op) &&
                                    !llvm::is_contained(launch.reductions, op)))
      continue;
    if (isa<qn::ReduceOp>(op))
      emitter.wanted.insert(op);
    op->walk([&](Operation *inside) {
      for (Value operand : inside->getOperands())
        if (Operation *from = operand.getDefiningOp())
          open.push_back(from);
    });
  }
}

/// A function of a packet and some integers; gives its empty body.
Block *LaunchBuilder::function(ModuleOp module, StringRef name,
                               unsigned integers) {
  builder.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> arguments{pointer};
  arguments.append(integers, builder.getI64Type());
  if (integers == 0)
    arguments.push_back(pointer);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), arguments);
  auto made = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  if (launch.tiling)
    made.setPassthroughAttr(
        builder.getArrayAttr(builder.getStringAttr(steppedAttribute)));
  Block *entry = made.addEntryBlock(builder);
  emitter.packetPointer = entry->getArgument(0);
  return entry;
}

/// Tile numbers of unit `begin` along the parallel axes.
Emitter::Values LaunchBuilder::firstPosition(Frame &root, Value begin) {
  Emitter::Values position(launch.axes.size());
  for (unsigned number = launch.axes.size(); number-- > 1;) {
    Value count = tiles(root, launch.axes[number]);
    Value one = emitter.constant(root, 1);
    OpBuilder &b = emitter.in(root);
    count = arith::MaxUIOp::create(b, loc, count, one);
    position[number] = arith::RemUIOp::create(b, loc, begin, count);
    begin = arith::DivUIOp::create(b, loc, begin, count);
  }
  position.front() = begin;
  return position;
}

/// The next unit: the last number counts up and carries into the one before.
Emitter::Values LaunchBuilder::nextPosition(Frame &frame, ValueRange position) {
  Emitter::Values next(position);
  Value carry = emitter.constant(frame, 1), zero = emitter.constant(frame, 0);
  Frame &root = *frame.parent;
  for (unsigned number = position.size(); number-- > 0;) {
    Value count = number ? tiles(root, launch.axes[number]) : Value();
    OpBuilder &b = emitter.in(frame);
    Value sum = arith::AddIOp::create(b, loc, position[number], carry);
    next[number] = sum;
    if (!number)
      break;
    Value over =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, sum, count);
    next[number] = arith::SelectOp::create(b, loc, over, zero, sum);
    carry = arith::ExtUIOp::create(b, loc, b.getI64Type(), over);
  }
  return next;
}

/// Rows past the caches are asked for before their turn, those of the axis
/// around the lanes'.
Ahead LaunchBuilder::rowsAhead() const {
  for (const AxisPlan &axis : llvm::reverse(launch.axes))
    if (static_cast<int>(axis.axis) != launch.lane)
      return {.axis = axis.axis, .steps = 2, .rows = true};
  return {};
}

void LaunchBuilder::buildTask(ModuleOp module, StringRef name) {
  Block *entry = function(module, name, 3);
  Frame root;
  root.block = entry;
  Value begin = entry->getArgument(1), end = entry->getArgument(2);
  Value worker = entry->getArgument(3);
  emitter.memory = TaskMemory(
      entry, [=, this](Frame &frame) { return roomMemory(frame, worker); });
  if (launch.packs() && launch.kind != LaunchKind::Pack)
    contraction->makeBuffers(root, launch.kind);
  makeDotBuffers(root);
  if (launch.kind == LaunchKind::Rows)
    rowBlocks->makeBuffers(root, ownMemory(root, worker));
  if (launch.sort)
    makeSortRoom(root, ownMemory(root, worker));
  if (launch.streams && target.triple.rfind("x86_64", 0) == 0)
    streamedUnits(root, begin, end);
  else
    units(root, begin, end);
  for (arith::ConstantOp bytes : roomBytes)
    bytes.setValueAttr(builder.getI64IntegerAttr(emitter.memory.ownBytes()));
  LLVM::ReturnOp::create(emitter.in(root), loc, ValueRange());
}

/// The loop over the units of a task.
void LaunchBuilder::unitByUnit(Frame &root, Value begin, Value end) {
  Emitter::Values states;
  if (launch.axes.size() > 1)
    states = firstPosition(root, begin);
  Value one = emitter.constant(root, 1);
  auto loop =
      scf::ForOp::create(emitter.in(root), loc, begin, end, one, states);
  if (states.empty())
    loop.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(root.anchor, loop);
  Frame frame = Frame::inside(root, loop.getBody());
  Emitter::Values position(loop.getRegionIterArgs());
  if (launch.axes.size() == 1)
    position.push_back(loop.getInductionVar());
  unit(frame, position);
  if (launch.axes.size() > 1)
    states = nextPosition(frame, position);
  scf::YieldOp::create(emitter.in(frame), loc, states);
  root.anchor = anchor;
}

/// Binds the axes of one unit and walks the tiled one.
void LaunchBuilder::unit(Frame &frame, ValueRange position) {
  if (launch.kind == LaunchKind::Merge)
    return merge(frame);
  if (launch.kind == LaunchKind::Begins)
    return begins(frame);
  SmallVector<LoopSpec> loops;
  bool packed = launch.blocks || launch.packs();
  for (auto [axis, at] : llvm::zip(launch.axes, position)) {
    if (!axis.isTiled()) {
      frame.bind(Binding{.axis = axis.axis, .position = at});
      continue;
    }
    if (packed)
      continue;
    Value tile = this->tile(frame, axis);
    Value extent = this->extent(frame, axis);
    OpBuilder &b = emitter.in(frame);
    Value lower = arith::MulIOp::create(b, loc, at, tile);
    Value upper = arith::AddIOp::create(b, loc, lower, tile);
    upper = arith::MinUIOp::create(b, loc, upper, extent);
    loops.push_back({axis, lower, upper});
  }
  if (packed)
    return packedUnit(frame, position);
  if (launch.kind == LaunchKind::ColumnParts)
    return columns->part(frame, position.drop_back().back(), loops.back());
  if (launch.kind == LaunchKind::ColumnMerge)
    return columns->merge(frame, loops.back());
  if (launch.kind == LaunchKind::Partials)
    return partials(frame, position.front(), loops.front());
  if (launch.kind == LaunchKind::Compact)
    return compact(frame, position.front(), loops.front());
  if (!dots.empty())
    return finishDots(frame, loops);
  if (launch.scatter && launch.lane < 0)
    return scatterLoops(frame, loops);
  if (launch.interleaves)
    return interleavedLines(frame, loops.front(), loops.back());
  elementLoops(frame, loops);
}

/// The loops over the elements of a unit.
void LaunchBuilder::elementLoops(Frame &frame,
                                 SmallVectorImpl<LoopSpec> &loops) {
  auto plain = [&](Frame &at) {
    bool hasSquares = launch.turned >= 0 && !target.isGpu();
    if (hasSquares && loops.front().plan.lanes == loops.back().plan.copies)
      std::swap(loops.front(), loops.back());
    else if (auto loads = launch.turnedOperands(model);
             !loads.empty() && !target.isGpu())
      return linesInTurn(at, loops, loads);
    // Rows past the caches are read several lines at a time.
    if (emitter.ahead.rows && launch.turned < 0 &&
        static_cast<int>(loops.back().plan.axis) == launch.lane)
      loops.back().plan.copies = std::max(loops.back().plan.copies, 4u);
    auto body = [&](Frame &tile, Emitter::Values &) {
      inner(tile, launch.stores);
    };
    if (past && !launch.streamsRows)
      vectorsPast(at, loops.front(), body);
    Emitter::Values none;
    emitter.nest(at, loops, none, body);
  };
  if (launch.deinterleaves)
    deinterleavedLines(frame, loops, launch.turnedOperands(model), plain);
  else
    plain(frame);
}

/// A unit of a launch that packs, or that reads what was packed.
void LaunchBuilder::packedUnit(Frame &frame, ValueRange position) {
  switch (launch.kind) {
  case LaunchKind::Pack:
    return contraction->packPanel(frame, launch.product, position.back());
  case LaunchKind::Contract:
    return contraction->unit(
        frame, {position.drop_back().back(), position.back()},
        {tile(frame, launch.axes.end()[-2]), tile(frame, launch.axes.back())});
  case LaunchKind::Stream:
    return contraction->line(frame, position.back(),
                             tile(frame, launch.axes.back()));
  case LaunchKind::SumParts:
    return contraction->sumPart(frame, position.back(),
                                tile(frame, launch.axes.back()));
  case LaunchKind::SumMerge:
    return contraction->mergeParts(frame, position.back());
  case LaunchKind::PackColumns:
    return rowBlocks->packColumns(frame, launch.sums, launch.product,
                                  position.back());
  default:
    assert(launch.kind == LaunchKind::Rows && "a launch with packed factors");
    return rowBlocks->unit(
        frame, position.back(),
        [&](Frame &at, ArrayRef<qn::StoreOp> stores) { inner(at, stores); });
  }
}

/// Stores grouped by the axes that are still without a loop.
void LaunchBuilder::inner(Frame &frame, ArrayRef<qn::StoreOp> stores) {
  if (launch.scatter)
    return scatterLoops(frame, {});
  if (launch.sort)
    return sortRows(frame);
  SmallVector<qn::StoreOp> left(stores);
  while (!left.empty()) {
    AxisSet missing = model.factsOf(left.front()).axes & ~frame.bound;
    SmallVector<qn::StoreOp> together;
    llvm::erase_if(left, [&](qn::StoreOp store) {
      bool same = (model.factsOf(store).axes & ~frame.bound) == missing;
      if (same)
        together.push_back(store);
      return same;
    });
    storeLoops(frame, together, missing);
  }
}

void LaunchBuilder::storeLoops(Frame &frame, ArrayRef<qn::StoreOp> stores,
                               AxisSet missing) {
  AxisSet all;
  for (qn::StoreOp store : stores)
    all |= model.factsOf(store).axes;
  SmallVector<qn::ScanOp> scans;
  SmallVector<Value> values;
  for (qn::StoreOp store : stores)
    values.push_back(store.getValue());
  if (!emitter.scansBehind(values, missing, scans)) {
    emitter.valid = false;
    return;
  }
  int lane = missing && !emitter.laneOf(frame, all)
                 ? emitter.laneAxis(frame, missing)
                 : -1;
  int last = scans.empty() ? lane : int(model.axisOf(scans[0].getAxis()));
  SmallVector<LoopSpec> loops;
  auto add = [&](unsigned axis) {
    AxisPlan plan{.axis = axis};
    if (static_cast<int>(axis) == lane)
      plan = emitter.lanePlan(frame, lane, /*reduces=*/false);
    loops.push_back({plan, {}, {}});
  };
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    if (hasAxis(missing, axis) && static_cast<int>(axis) != last)
      add(axis);
  if (last >= 0)
    add(last);
  if (!scans.empty()) {
    loops.back().plan.copies = 1;
    loops.back().reverse = scans[0].getReverse();
    if (loops.back().reverse)
      loops.back().plan.lanes = 1;
  }
  auto body = [&](Frame &at, Emitter::Values &) {
    emitter.emitStores(at, stores);
  };
  if (past && launch.streamsRows && lane >= 0 && loops.size() == 1 &&
      scans.empty())
    rowPast(frame, loops.front(), body);
  Emitter::Values none;
  emitter.nestScans(frame, loops, scans, none, body);
}
