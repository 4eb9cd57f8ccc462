// Operands of small elements that have their neighbours across the lanes: as
// many lines as there are lanes are read by whole vectors, and what they hold
// lies on the stack until its square is turned.
#include "dsl/lower/Across.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Launch.h"
#include "dsl/lower/Turn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// A vector of a buffer that lies on the stack.
static Value slotOf(OpBuilder &b, Value buffer, Type vector, Value number) {
  return LLVM::GEPOp::create(b, buffer.getLoc(), buffer.getType(), vector,
                             buffer, ArrayRef<LLVM::GEPArg>{number});
}

/// Reads a vector of each line that the lanes run across. A square's rows lie
/// behind each other in the buffer, each with those of the squares of the same
/// columns beside it.
Value LaunchBuilder::fillLines(Frame &at, qn::LoadOp load, unsigned side) {
  auto operand = cast<BlockArgument>(load.getTensor());
  auto type = cast<qn::OperandType>(operand.getType());
  const Binding lane = *at.find(launch.lane);
  Type raw = memoryType(load.getType());
  auto vector = VectorType::get({std::int64_t(lane.lanes)}, raw);
  Value first = emitter.address(at, operand, model.axesOf(type), 0);
  LinesAcross lines = linesAcross(emitter, model, at, operand, first, lane);
  Value buffer = emitter.room(at, vector, vector.getNumElements());
  Value zero = emitter.constant(at, 0), one = emitter.constant(at, 1);
  Value rows = emitter.constant(at, side);
  auto loop = scf::ForOp::create(emitter.in(at), loc, zero, rows, one);
  Frame row = Frame::inside(at, loop.getBody());
  row.anchor = loop.getBody()->getTerminator();
  SmallVector<Value> places, vectors;
  for (unsigned skip = 0; skip != lane.lanes; skip += side) {
    Value by = emitter.constant(row, skip);
    Value number =
        arith::AddIOp::create(emitter.in(row), loc, loop.getInductionVar(), by);
    places.push_back(number);
    Value from = lineAcross(emitter, row, lines, number);
    vectors.push_back(
        emitter.read(row, from, raw, lane.lanes, Value(), Value()));
    fetchBehind(emitter, row, lines, from, target.vectorBytes);
  }
  vectors = turnedSegments(emitter.in(row), loc, std::move(vectors));
  for (auto [place, part] : llvm::zip(places, vectors)) {
    Value slot = slotOf(emitter.in(row), buffer, vector, place);
    LLVM::StoreOp::create(builder, loc, part, slot, target.vectorBytes);
  }
  return buffer;
}

/// Squares along vectors of this length of lines, at the turned axis's
/// position.
void LaunchBuilder::turnedLines(Frame &at, LoopSpec squares, unsigned length,
                                ArrayRef<qn::LoadOp> loads) {
  squares.lower = at.find(launch.turned)->position;
  Value lanes = emitter.constant(at, length);
  squares.upper =
      arith::AddIOp::create(emitter.in(at), loc, squares.lower, lanes);
  squares.whole = true;
  SmallVector<Value> buffers;
  // What is left of the lanes, where there are no masks, goes by single squares
  // or elements.
  if (at.find(launch.lane)->lanes == length)
    for (qn::LoadOp load : loads)
      buffers.push_back(fillLines(at, load, squares.plan.copies));
  Emitter::Values none;
  emitter.nest(at, squares, none, [&](Frame &square, Emitter::Values &) {
    for (auto [buffer, load] : llvm::zip_first(buffers, loads))
      takeSquare(square, load, buffer, squares.lower);
    inner(square, launch.stores);
  });
}

void LaunchBuilder::takeSquare(Frame &square, qn::LoadOp load, Value buffer,
                               Value start) {
  const Binding along = *square.find(launch.turned);
  auto vector = VectorType::get({std::int64_t(square.find(launch.lane)->lanes)},
                                memoryType(load.getType()));
  Value skip =
      arith::SubIOp::create(emitter.in(square), loc, along.position, start);
  Value from = slotOf(builder, buffer, vector, skip);
  SmallVector<Value> rows;
  for (unsigned row = 0; row != along.copies; ++row) {
    Value number = emitter.constant(square, row);
    Value slot = slotOf(emitter.in(square), from, vector, number);
    rows.push_back(
        LLVM::LoadOp::create(builder, loc, vector, slot, target.vectorBytes));
  }
  rows = turnedBeside(emitter.in(square), loc, std::move(rows));
  keepTurned(emitter, square, load, rows, along.slot);
}

/// Whether lines lie a multiple of a cache line apart: then they meet in few
/// sets of a cache, and no vector of a line lies in two.
Value LaunchBuilder::linesMeet(Frame &frame, ArrayRef<qn::LoadOp> loads) {
  constexpr std::int64_t line = 64;
  Value bits = emitter.constant(frame, 0);
  for (qn::LoadOp load : loads) {
    auto operand = cast<BlockArgument>(load.getTensor());
    const Binding lane{.axis = unsigned(launch.lane)};
    Value step = linesAcross(emitter, model, frame, operand, bits, lane).step;
    Value bytes = emitter.constant(frame, storedBytes(load.getType()));
    OpBuilder &b = emitter.in(frame);
    step = arith::MulIOp::create(b, loc, step, bytes);
    bits = arith::OrIOp::create(b, loc, bits, step);
  }
  Value low = emitter.constant(frame, line - 1);
  Value zero = emitter.constant(frame, 0);
  OpBuilder &b = emitter.in(frame);
  bits = arith::AndIOp::create(b, loc, bits, low);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits, zero);
}

void LaunchBuilder::linesInTurn(Frame &frame, ArrayRef<LoopSpec> loops,
                                ArrayRef<qn::LoadOp> loads) {
  const LoopSpec &across = loops.front(), &along = loops.back();
  Value length = emitter.constant(frame, across.plan.lanes);
  // In the caches others go by squares alone.
  Value meet = emitter.streaming ? Value() : linesMeet(frame, loads);
  OpBuilder &b = emitter.in(frame);
  Value all = arith::SubIOp::create(b, loc, along.upper, along.lower);
  Value left = arith::RemUIOp::create(b, loc, all, length);
  if (meet)
    left = arith::SelectOp::create(b, loc, meet, left, all);
  LoopSpec lines = along, rest = along;
  rest.lower = lines.upper = arith::SubIOp::create(b, loc, along.upper, left);
  lines.plan.copies = 1;
  lines.turns = across.plan.lanes;
  Emitter::Values none;
  emitter.nest(frame, {lines, across}, none, [&](Frame &at, Emitter::Values &) {
    turnedLines(at, along, across.plan.lanes, loads);
  });
  emitter.nest(frame, {across, rest}, none,
               [&](Frame &at, Emitter::Values &) { inner(at, launch.stores); });
}
