// Operands that have their neighbours across the lanes: squares of them are
// read along their lines and transposed in registers.
#include "dsl/lower/Across.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Turn.h"
#include "dsl/schedule/Turned.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

void quern::fetchBehind(Emitter &emitter, Frame &at, const LinesAcross &lines,
                        Value pointer, std::int64_t bytes) {
  std::int64_t count = bytes / storedBytes(lines.type.getElementType());
  Value there =
      emitter.advance(at, lines.type, pointer, emitter.constant(at, count));
  LLVM::Prefetch::create(emitter.in(at), pointer.getLoc(), there, /*rw=*/0,
                         /*hint=*/2, /*cache=*/1);
}

LinesAcross quern::linesAcross(Emitter &emitter, const KernelModel &model,
                               Frame &at, BlockArgument operand, Value first,
                               const Binding &lane) {
  LinesAcross lines{cast<qn::OperandType>(operand.getType()), first, {}, {}};
  for (auto [number, name] : llvm::enumerate(lines.type.getAxes()))
    if (model.axisOf(name) == lane.axis)
      lines.step = emitter.stride(at, operand, number);
  if (!lane.mask)
    return lines;
  Value one = emitter.constant(at, 1);
  OpBuilder &b = emitter.in(at);
  Location loc = operand.getLoc();
  Type bits = VectorType::get({1}, b.getIntegerType(lane.lanes));
  Value held = vector::BitCastOp::create(b, loc, bits, lane.mask);
  held = vector::ExtractOp::create(b, loc, held, 0);
  held = math::CtPopOp::create(b, loc, held);
  if (held.getType() != one.getType())
    held = arith::ExtUIOp::create(b, loc, one.getType(), held);
  lines.last = arith::SubIOp::create(b, loc, held, one);
  return lines;
}

Value quern::lineAcross(Emitter &emitter, Frame &at, const LinesAcross &lines,
                        Value number) {
  OpBuilder &b = emitter.in(at);
  Location loc = lines.first.getLoc();
  if (lines.last)
    number = arith::MinUIOp::create(b, loc, number, lines.last);
  Value distance = arith::MulIOp::create(b, loc, lines.step, number);
  return emitter.advance(at, lines.type, lines.first, distance);
}

void quern::keepTurned(Emitter &emitter, Frame &at, qn::LoadOp load,
                       ValueRange rows, unsigned slot, Copies others) {
  for (auto [copy, row] : llvm::enumerate(rows))
    at.values[{load.getResult().getAsOpaquePointer(),
               others | Copies(copy) << (8 * slot)}] =
        fromMemory(emitter.in(at), row.getLoc(), row, load.getType());
}

/// Where lanes run across an operand's rows and as many copies as lanes along
/// them, or as a square has: rows are read whole and transposed, for all copies
/// at once. Null where that is not so.
Value Emitter::loadTurned(Frame &frame, qn::LoadOp load, Copies copies) {
  auto operand = cast<BlockArgument>(load.getTensor());
  auto type = cast<qn::OperandType>(operand.getType());
  AxisSet axes = model.axesOf(type);
  Frame &at = home(frame, axes);
  const Binding *lane = laneOf(at, axes);
  if (!lane || lane->copies > 1 ||
      strideAlong(type, lane->axis) != StrideClass::Dynamic)
    return Value();
  const Binding *along = nullptr;
  for (const Binding &binding : at.bindings)
    if ((binding.copies == lane->lanes ||
         binding.copies == squareSide(lane->lanes, target.vectorBytes)) &&
        strideAlong(type, binding.axis) == StrideClass::One)
      along = &binding;
  // Copies behind the end that make the last one again are not neighbours.
  if (!along || along->lanes > 1 || along->last)
    return Value();
  Copies others = copies & ~(Copies(0xff) << (8 * along->slot));
  Value first = address(frame, operand, axes, others);
  LinesAcross lines = linesAcross(*this, model, at, operand, first, *lane);
  // Squares with several to a line ask more often: in the caches they lose.
  constexpr unsigned line = 64, width = 256;
  bool asks = streaming || along->copies * storedBytes(load.getType()) >= line;
  Type raw = memoryType(load.getType());
  Values rows;
  for (unsigned row = 0; row < lane->lanes; ++row) {
    Value from = lineAcross(*this, at, lines, constant(at, row));
    rows.push_back(read(at, from, raw, along->copies, Value(), Value()));
    if (asks)
      fetchBehind(*this, at, lines, from, width);
  }
  rows = turnedRows(in(at), load.getLoc(), rows);
  keepTurned(*this, at, load, rows, along->slot, others);
  return at.values.lookup({load.getResult().getAsOpaquePointer(), copies});
}
