// Operands with lines of a few elements, such as the channels of an image,
// while lanes run across the lines: they are read as whole vectors and
// deinterleaved.
#include "dsl/lower/Across.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Element number `which` of every `vectors.size()` that follow each other.
static Value everyNth(OpBuilder &b, ArrayRef<Value> vectors,
                      std::int64_t which) {
  std::int64_t lanes = cast<VectorType>(vectors[0].getType()).getNumElements();
  std::int64_t count = vectors.size();
  Value made = vectors[0];
  for (std::int64_t from = 1; from != count; ++from) {
    SmallVector<std::int64_t> mask;
    for (std::int64_t lane = 0; lane != lanes; ++lane) {
      std::int64_t flat = lane * count + which;
      std::int64_t own = from == 1 ? flat % lanes : lane;
      mask.push_back(flat / lanes == from ? lanes + flat % lanes : own);
    }
    made =
        vector::ShuffleOp::create(b, made.getLoc(), made, vectors[from], mask);
  }
  return made;
}

/// Reads as many lines of this length as there are lanes.
void LaunchBuilder::deinterleave(Frame &frame, ArrayRef<qn::LoadOp> loads,
                                 std::int64_t length) {
  const unsigned lanes = frame.find(launch.lane)->lanes;
  frame.bind(Binding{.axis = unsigned(launch.turned),
                     .position = emitter.constant(frame, 0),
                     .copies = unsigned(length)});
  for (qn::LoadOp load : loads) {
    auto operand = cast<BlockArgument>(load.getTensor());
    auto type = cast<qn::OperandType>(operand.getType());
    Value first = emitter.address(frame, operand, model.axesOf(type), 0);
    Type raw = memoryType(type.getElementType());
    Emitter::Values vectors;
    for (std::int64_t number = 0; number != length; ++number) {
      Value skip = emitter.constant(frame, number * lanes);
      Value from = emitter.advance(frame, type, first, skip);
      vectors.push_back(
          emitter.read(frame, from, raw, lanes, Value(), Value()));
    }
    Emitter::Values rows;
    for (std::int64_t number = 0; number != length; ++number)
      rows.push_back(everyNth(emitter.in(frame), vectors, number));
    keepTurned(emitter, frame, load, rows, frame.find(launch.turned)->slot);
  }
  inner(frame, launch.stores);
}

void LaunchBuilder::deinterleavedLines(Frame &frame, ArrayRef<LoopSpec> loops,
                                       ArrayRef<qn::LoadOp> loads,
                                       OtherLines others) {
  SmallVector<Value> operands;
  for (qn::LoadOp load : loads)
    operands.push_back(load.getTensor());
  Emitter::Values none;
  auto split = [&](Frame &lines, std::int64_t length) {
    emitter.nest(lines, loops.front(), none, [&](Frame &at, Emitter::Values &) {
      const Binding *lane = at.find(launch.lane);
      if (lane->lanes > 1 && !lane->mask)
        return deinterleave(at, loads, length);
      emitter.nest(at, loops.back(), none, [&](Frame &each, Emitter::Values &) {
        inner(each, launch.stores);
      });
    });
  };
  byLength(frame, launch.turned, operands, split, others);
}
