// Elementwise launches whose operands have neighbours along different axes:
// squares of both go through shared memory, read and written in lines.
#include "dsl/gpu/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Elements of a square along each axis.
static constexpr std::int64_t side = turnedSide;
/// Loads of a launch that are given memory of the block.
static constexpr std::size_t mostTurned = 6;

/// The loads behind the stores whose neighbours lie along the turned axis.
static SmallVector<qn::LoadOp> turnedLoads(const KernelModel &model,
                                           const LaunchPlan &launch) {
  SmallVector<qn::LoadOp> found;
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Operation *> open(launch.stores.begin(), launch.stores.end());
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    op->walk([&](Operation *inside) {
      for (Value operand : inside->getOperands())
        if (Operation *from = operand.getDefiningOp())
          open.push_back(from);
    });
    auto load = dyn_cast<qn::LoadOp>(op);
    if (!load || load->getBlock() != &model.kernel.block())
      continue;
    auto along = launch.alongTurned(model, load);
    if (along && *along == launch.turned && found.size() < mostTurned &&
        !load.getType().isInteger(1))
      found.push_back(load);
  }
  return found;
}

/// Lines of one element more than a square, or a word: no bank is met twice.
static std::int64_t linePitch(Type element) {
  return side + std::max<std::int64_t>(1, 4 / storedBytes(element));
}

/// Memory of the block for a square of each turned operand.
void EntryBuilder::makeSquares(ModuleOp module, StringRef name) {
  for (qn::LoadOp load : turnedLoads(model, launch)) {
    Type element = load.getType();
    std::string symbol =
        (name + "_square" + std::to_string(squares.size())).str();
    share(module, symbol, side * linePitch(element) * storedBytes(element));
    squares.push_back({load, symbol});
  }
}

/// Line `line` and place `place` of a square.
Value EntryBuilder::inSquare(Square &square, Value line, Value place) {
  Type element = square.load.getType();
  Value at = arith::AddIOp::create(
      builder, loc, math("muli", line, linePitch(element)), place);
  return inShared(square.symbol, math("muli", at, storedBytes(element)));
}

/// A frame for the element `down` the one axis and `along` the other one from
/// the corner of the unit.
Frame EntryBuilder::elementOf(Frame &frame, ValueRange corner, Value turned,
                              Value lane, bool clamps) {
  Frame one = Frame::inside(frame, frame.block);
  one.anchor = frame.anchor;
  unsigned axes[] = {unsigned(launch.turned), unsigned(launch.lane)};
  Value steps[] = {turned, lane};
  for (unsigned number : {0, 1}) {
    Value extent = emitter.extent(frame, axes[number]);
    Value unit = emitter.constant(frame, 1);
    OpBuilder &b = emitter.in(one);
    Value at = arith::ExtUIOp::create(b, loc, b.getI64Type(), steps[number]);
    at = arith::AddIOp::create(b, loc, corner[number], at);
    if (clamps) {
      Value last = arith::SubIOp::create(b, loc, extent, unit);
      at = arith::MinUIOp::create(b, loc, at, last);
    }
    one.bind(Binding{.axis = axes[number], .position = at, .shared = true});
  }
  return one;
}

/// Reads the turned operands along their lines, all of a thread's elements
/// before the first is left; those behind an end are the last one again.
void EntryBuilder::fillSquares(Frame &frame, ValueRange corner) {
  std::int64_t each = side * side / plan.threads;
  for (Square &square : squares) {
    Emitter::Values values, places;
    for (std::int64_t number = 0; number < each; ++number) {
      emitter.in(frame);
      Value mine = math("addi", team.thread, number * plan.threads);
      Value line = math("divui", mine, side), place = math("remui", mine, side);
      Frame one = elementOf(frame, corner, place, line, /*clamps=*/true);
      values.push_back(emitter.emit(one, square.load.getResult(), 0));
      emitter.in(frame);
      places.push_back(inSquare(square, line, place));
    }
    for (auto [value, place] : llvm::zip(values, places))
      emitter.write(frame, place, value, value.getType(), Value());
  }
}

/// One square: what is turned is copied, then every thread has elements in the
/// order of the results. The barriers are behind the reading of what is written
/// next.
void EntryBuilder::turnedUnit(Frame &frame, ValueRange position) {
  auto corner = cornerOf(frame, position, unsigned(launch.lane));
  emitter.in(frame);
  device.barrier(loc);
  fillSquares(frame, corner);
  emitter.in(frame);
  device.barrier(loc);
  std::int64_t each = side * side / plan.threads;
  for (std::int64_t number = 0; number < each; ++number) {
    emitter.in(frame);
    Value mine = math("addi", team.thread, number * plan.threads);
    Value row = math("divui", mine, side), column = math("remui", mine, side);
    Frame one = elementOf(frame, corner, row, column, /*clamps=*/false);
    Value inside;
    for (int axis : {launch.turned, launch.lane}) {
      Value extent = emitter.extent(frame, axis);
      Value fits =
          arith::CmpIOp::create(emitter.in(one), loc, arith::CmpIPredicate::ult,
                                one.find(axis)->position, extent);
      inside = inside ? Value(arith::AndIOp::create(builder, loc, inside, fits))
                      : fits;
    }
    auto branch = scf::IfOp::create(emitter.in(one), loc, inside, false);
    Operation *anchor = std::exchange(frame.anchor, branch);
    Frame at = Frame::inside(one, branch.thenBlock());
    at.anchor = branch.thenBlock()->getTerminator();
    // What is made for this element stays in its branch.
    for (int axis : {launch.turned, launch.lane})
      at.bind(*one.find(axis));
    for (Square &square : squares) {
      emitter.in(at);
      Value place = inSquare(square, column, row);
      at.values[{square.load.getResult().getAsOpaquePointer(), Copies(0)}] =
          emitter.read(at, place, square.load.getType(), 1, Value(), Value());
    }
    emitter.emitStores(at, launch.stores);
    frame.anchor = anchor;
  }
}
