// The loops of a scatter run in source order, since positions may meet. What
// can be said of many positions at once is not asked of each.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Opens the loops around each element that is written.
void LaunchBuilder::inOrder(Frame &frame, const Loops &loops) {
  AxisSet axes;
  for (const LoopSpec &loop : loops)
    axes |= axisBit(loop.plan.axis);
  SmallVector<qn::ScanOp> scans;
  emitter.valid &=
      emitter.scansBehind(launch.scatter->getOperands(), axes, scans);
  if (!emitter.valid)
    return;
  Emitter::Values none;
  emitter.nestScans(frame, loops, scans, none,
                    [&](Frame &at, Emitter::Values &) {
                      for (Copies copies : emitter.copiesOf(at, at.bound))
                        emitter.scatter(at, launch.scatter, copies);
                    });
}

/// The code of `body` where the positions are known to be inside, and where
/// each has to be looked at.
void LaunchBuilder::twice(Frame &frame, Value known, const Positions &positions,
                          llvm::function_ref<void(Frame &, bool)> body) {
  auto branch = scf::IfOp::create(emitter.in(frame), loc, known, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  for (bool isKnown : {true, false}) {
    Block *block = isKnown ? branch.thenBlock() : branch.elseBlock();
    Frame side = Frame::inside(frame, block);
    side.anchor = block->getTerminator();
    if (isKnown)
      emitter.inside.insert_range(positions);
    body(side, isKnown);
    for (auto position : positions)
      emitter.inside.erase(position);
  }
  frame.anchor = anchor;
}

/// The checked positions, of the scatter and of reads within its loops, that
/// are the number along some other axis.
LaunchBuilder::Positions LaunchBuilder::numbersOfAxes(AxisSet moving) const {
  Positions found;
  auto look = [&](Operation *op, ValueRange indices, qn::OperandType type) {
    for (auto [number, index] : llvm::enumerate(indices)) {
      auto own = index.getDefiningOp<qn::IndexOp>();
      if (own && own.getAxisAttr() != type.getAxes()[number])
        found.push_back({op, number});
    }
  };
  qn::ScatterOp scatter = launch.scatter;
  if (scatter.getChecked())
    look(scatter, scatter.getIndices(), scatter.getTensor().getType());
  SmallVector<Value> open(scatter->getOperands());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    llvm::append_range(open, op->getOperands());
    auto load = dyn_cast<qn::LoadOp>(op);
    if (load && load.getChecked() && (model.axesOf(load.getResult()) & moving))
      look(load, load.getIndices(), load.getTensor().getType());
  }
  return found;
}

/// Whether the axes that these positions count are no longer than those that
/// they index.
Value LaunchBuilder::axesFit(Frame &frame, const Positions &positions) {
  Value all;
  qn::ScatterOp scatter = launch.scatter;
  for (auto [op, number] : positions) {
    auto load = dyn_cast<qn::LoadOp>(op);
    auto tensor = load ? load.getTensor() : scatter.getTensor();
    Value index =
        load ? load.getIndices()[number] : scatter.getIndices()[number];
    qn::OperandType type = tensor.getType();
    auto own = index.getDefiningOp<qn::IndexOp>();
    Value length = emitter.extent(frame, model.axisOf(own.getAxis()));
    Value size = emitter.extent(frame, model.axisOf(type.getAxes()[number]));
    OpBuilder &b = emitter.in(frame);
    Value fits =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, length, size);
    all = all ? arith::AndIOp::create(b, loc, all, fits) : fits;
  }
  return all;
}

/// Whether a value costs little more than the reads it is made of.
static bool isCheap(Value value, unsigned &operations) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<arith::ConstantOp, qn::IndexOp, qn::SizeOp>(op))
    return true;
  if (auto load = dyn_cast<qn::LoadOp>(op))
    return load.getIndices().empty();
  if (!isa<arith::ArithDialect>(op->getDialect()) || operations == 0)
    return false;
  --operations;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isCheap(operand, operations);
  });
}

/// The positions that operands name, where all of them are cheap to look at.
LaunchBuilder::Positions LaunchBuilder::cheapPositions() const {
  qn::ScatterOp scatter = launch.scatter;
  unsigned operations = 8;
  bool isCheap = scatter.getChecked() && model.scans.empty();
  if (scatter.getWhen())
    isCheap = isCheap && ::isCheap(scatter.getWhen(), operations);
  Positions found;
  for (auto [number, index] : llvm::enumerate(scatter.getIndices()))
    if (!index.getDefiningOp<qn::IndexOp>()) {
      isCheap = isCheap && ::isCheap(index, operations);
      found.push_back({scatter, number});
    }
  return isCheap ? found : Positions();
}

/// Whether all positions along a stretch are in range, which few elements are
/// not asked.
Value LaunchBuilder::allInRange(Frame &frame, const LoopSpec &stretch) {
  constexpr std::int64_t few = 32;
  LoopSpec loop = stretch;
  loop.plan = emitter.lanePlan(frame, loop.plan.axis, /*reduces=*/false);
  loop.plan.copies = 4;
  Value bound = emitter.constant(frame, few);
  OpBuilder &b = emitter.in(frame);
  Value length = arith::SubIOp::create(b, loc, loop.upper, loop.lower);
  Value isLong =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, length, bound);
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{b.getI1Type()}, isLong, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  Value yes =
      arith::ConstantOp::create(emitter.in(inside), loc, b.getBoolAttr(true));
  Emitter::Values good{emitter.widen(inside, yes, loop.plan.lanes)};
  emitter.nest(inside, {loop}, good, [&](Frame &at, Emitter::Values &states) {
    for (Copies copies : emitter.copiesOf(at, at.bound)) {
      Value here = emitter.goodPlaces(at, launch.scatter, copies);
      OpBuilder &b = emitter.in(at);
      states[0] = arith::AndIOp::create(
          b, loc, states[0], emitter.widen(at, here, loop.plan.lanes));
    }
  });
  Value all = vector::ReductionOp::create(emitter.in(inside), loc,
                                          vector::CombiningKind::AND, good[0]);
  scf::YieldOp::create(b, loc, all);
  b.setInsertionPointToEnd(branch.elseBlock());
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  scf::YieldOp::create(b, loc, no);
  frame.anchor = anchor;
  return branch.getResult(0);
}

/// Stretches of the innermost loop, whose positions are looked at together
/// before anything is written; they are read again from the first cache.
void LaunchBuilder::inStretches(Frame &frame, const Loops &loops) {
  constexpr std::int64_t stretch = 1024;
  Loops outer(ArrayRef(loops).drop_back());
  Emitter::Values none;
  emitter.nest(frame, outer, none, [&](Frame &row, Emitter::Values &) {
    LoopSpec last = loops.back();
    if (!last.lower) {
      last.lower = emitter.constant(row, 0);
      last.upper = emitter.extent(row, last.plan.axis);
    }
    Value by = emitter.constant(row, stretch);
    auto loop =
        scf::ForOp::create(emitter.in(row), loc, last.lower, last.upper, by);
    Operation *anchor = std::exchange(row.anchor, loop);
    Frame inner = Frame::inside(row, loop.getBody());
    inner.anchor = loop.getBody()->getTerminator();
    last.lower = loop.getInductionVar();
    OpBuilder &b = emitter.in(inner);
    Value end = arith::AddIOp::create(b, loc, last.lower, by);
    last.upper = arith::MinSIOp::create(b, loc, end, last.upper);
    twice(inner, allInRange(inner, last), cheapPositions(),
          [&](Frame &side, bool isKnown) {
            last.plan.copies = isKnown ? 4 : 1;
            inOrder(side, {last});
          });
    row.anchor = anchor;
  });
}

/// Tiles of axes with places of their own are walked innermost.
void LaunchBuilder::scatterLoops(Frame &frame, ArrayRef<LoopSpec> tiles) {
  AxisSet bound = frame.bound;
  for (const LoopSpec &tile : tiles)
    bound |= axisBit(tile.plan.axis);
  AxisSet missing = model.scatterAxes(launch.scatter) & ~bound;
  Loops loops;
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    if (hasAxis(missing, axis))
      loops.push_back({AxisPlan{.axis = axis}, {}, {}});
  llvm::append_range(loops, tiles);
  if (target.isGpu() || loops.empty())
    return inOrder(frame, loops);
  bool byStretch = launch.lane < 0 && !cheapPositions().empty() &&
                   !model.localAxis(loops.back().plan.axis);
  auto known = [&](Frame &at, bool isKnown) {
    if (isKnown && byStretch)
      inStretches(at, loops);
    else
      inOrder(at, loops);
  };
  Positions numbers = numbersOfAxes((bound & ~frame.bound) | missing);
  if (numbers.empty())
    return known(frame, true);
  twice(frame, axesFit(frame, numbers), numbers, known);
}
