// Scans: states carried along a loop, or through the lanes of a vector.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// By operation: the axes along which loops that take its values may carry it.
using Carried = llvm::DenseMap<Operation *, AxisSet>;

/// Everything `values` are made from, down to reductions without these axes:
/// what a reduction walks along is carried by its own loops.
static void collect(const KernelModel &model, ValueRange values, AxisSet axes,
                    Carried &seen) {
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (!op || !(model.axesOf(value) & axes))
      continue;
    AxisSet &known = seen[op];
    if (!(axes & ~known))
      continue;
    known |= axes;
    op->walk([&](Operation *inner) {
      AxisSet there = axes;
      if (auto reduction = dyn_cast<qn::ReduceOp>(inner))
        there &= ~model.axesOf(reduction.getAxes());
      collect(model, inner->getOperands(), there, seen);
    });
  }
}

bool Emitter::scansBehind(ValueRange values, AxisSet axes,
                          SmallVectorImpl<qn::ScanOp> &scans) {
  if (model.scans.empty())
    return true;
  Carried seen;
  collect(model, values, axes, seen);
  for (qn::ScanOp scan : model.scans) {
    if (!hasAxis(seen.lookup(scan), model.axisOf(scan.getAxis())) ||
        llvm::is_contained(scans, scan))
      continue;
    if (!scans.empty() && (scans[0].getAxis() != scan.getAxis() ||
                           scans[0].getReverse() != scan.getReverse())) {
      scan.emitError("scans along different axes or in different directions "
                     "feed one result: one of them must be stored in between");
      return false;
    }
    scans.push_back(scan);
  }
  return true;
}

void Emitter::nestScans(Frame &frame, ArrayRef<LoopSpec> loops,
                        ArrayRef<qn::ScanOp> scans, Values &states, Body body) {
  if (scans.empty())
    return nest(frame, loops, states, body);
  if (loops.back().plan.shared)
    return teamScans(frame, loops.back(), scans, states, body);
  nest(frame, loops.drop_back(), states, [&](Frame &outer, Values &now) {
    unsigned before = now.size();
    llvm::append_range(now, scanStates(outer, scans));
    nest(outer, loops.take_back(), now, [&](Frame &inner, Values &all) {
      stepScans(inner, scans, MutableArrayRef(all).drop_front(before));
      Values theirs(ArrayRef<Value>(all).take_front(before));
      body(inner, theirs);
      llvm::copy(theirs, all.begin());
    });
    now.truncate(before);
  });
}

/// By scan, by copy of the axes around it, by state.
Emitter::Values Emitter::scanStates(Frame &frame, ArrayRef<qn::ScanOp> scans) {
  Values states;
  for (qn::ScanOp scan : scans) {
    AxisSet around = model.axesOf(scan->getResult(0)) &
                     ~axisBit(model.axisOf(scan.getAxis()));
    const Binding *lane = laneOf(frame, around);
    for (Copies copy : copiesOf(frame, around))
      for (Value init : scan.getInits())
        states.push_back(wide(frame, init, copy, lane ? lane->lanes : 1));
  }
  return states;
}

void Emitter::stepScans(Frame &frame, ArrayRef<qn::ScanOp> scans,
                        MutableArrayRef<Value> states) {
  for (qn::ScanOp scan : scans) {
    unsigned axis = model.axisOf(scan.getAxis());
    unsigned lanes = frame.find(axis)->lanes;
    AxisSet around = model.axesOf(scan->getResult(0)) & ~axisBit(axis);
    for (Copies copy : copiesOf(frame, around)) {
      auto state = states.take_front(scan.getInits().size());
      states = states.drop_front(state.size());
      Values results = frame.find(axis)->shared
                           ? teamScan(frame, scan, copy, lanes, state)
                       : lanes > 1 ? laneScan(frame, scan, copy, lanes, state)
                                   : plainScan(frame, scan, copy, state);
      for (auto [of, value] : llvm::zip(scan->getResults(), results))
        frame.values[{of.getAsOpaquePointer(), copy}] = value;
    }
  }
}

/// One position after the other.
Emitter::Values Emitter::plainScan(Frame &frame, qn::ScanOp scan, Copies copies,
                                   MutableArrayRef<Value> state) {
  Values old(state.begin(), state.end()), arguments = old;
  llvm::append_range(arguments, emitAll(frame, scan.getInputs(), copies));
  Values now = inlineRegion(frame, scan.getStep(), arguments, copies);
  if (scan.getWhere())
    now = select(frame, emit(frame, scan.getWhere(), copies), now, old);
  for (auto [carried, value] : llvm::zip(state, now))
    carried = value;
  return scan.getExclusive() ? old : now;
}

static Emitter::Values lastOf(OpBuilder &b, ValueRange vectors) {
  Emitter::Values last;
  for (Value each : vectors) {
    std::int64_t lanes = cast<VectorType>(each.getType()).getNumElements();
    last.push_back(
        vector::ExtractOp::create(b, each.getLoc(), each, lanes - 1));
  }
  return last;
}

/// Every lane takes what lies 1, 2, 4, … lanes before it, then what came before
/// the vector.
Emitter::Values Emitter::laneScan(Frame &frame, qn::ScanOp scan, Copies copies,
                                  unsigned lanes,
                                  MutableArrayRef<Value> state) {
  Location loc = scan.getLoc();
  Values neutral;
  for (Value init : scan.getInits())
    neutral.push_back(wide(frame, init, copies, lanes));
  Values arguments = neutral;
  for (Value input : scan.getInputs())
    arguments.push_back(wide(frame, input, copies, lanes));
  Values now = inlineRegion(frame, scan.getStep(), arguments, copies);
  if (scan.getWhere())
    now = select(frame, emit(frame, scan.getWhere(), copies), now, neutral);
  auto shift = [&](ValueRange from, ValueRange into, unsigned by) {
    SmallVector<std::int64_t> which;
    for (unsigned lane = 0; lane < lanes; ++lane)
      which.push_back(lane < by ? lane : lanes + lane - by);
    Values moved;
    OpBuilder &b = in(frame);
    for (auto [value, fill] : llvm::zip(from, into))
      moved.push_back(vector::ShuffleOp::create(b, loc, fill, value, which));
    return moved;
  };
  for (unsigned by = 1; by < lanes; by *= 2) {
    Values earlier = shift(now, neutral, by);
    llvm::append_range(earlier, now);
    now = inlineRegion(frame, scan.getMerge(), earlier, copies);
  }
  Values carried, ends(state.begin(), state.end());
  llvm::append_range(ends, lastOf(in(frame), now));
  for (Value value : state)
    carried.push_back(widen(frame, value, lanes));
  Values whole = carried;
  llvm::append_range(whole, now);
  now = inlineRegion(frame, scan.getMerge(), whole, copies);
  // An integer's way out of a lane and back into all is long: the next vector
  // does not wait for it.
  bool areIntegers = llvm::all_of(scan.getInits().getTypes(),
                                  [](Type type) { return type.isInteger(); });
  llvm::copy(areIntegers ? inlineRegion(frame, scan.getMerge(), ends, copies)
                         : lastOf(in(frame), now),
             state.begin());
  return scan.getExclusive() ? shift(now, carried, 1) : now;
}
