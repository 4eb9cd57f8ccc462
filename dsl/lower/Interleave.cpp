// Results with lines of a few elements, such as the channels of an image, while
// lanes run across the lines: vectors are interleaved and stored whole.
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// The elements of `vectors` in turns, as many vectors of them.
static Emitter::Values inTurns(OpBuilder &b, ArrayRef<Value> vectors) {
  std::int64_t lanes = cast<VectorType>(vectors[0].getType()).getNumElements();
  std::int64_t count = vectors.size();
  Emitter::Values result;
  for (std::int64_t number = 0; number != count; ++number) {
    Value made = vectors[0];
    for (std::int64_t from = 1; from != count; ++from) {
      SmallVector<std::int64_t> mask;
      for (std::int64_t lane = 0; lane != lanes; ++lane) {
        std::int64_t flat = number * lanes + lane;
        std::int64_t own = from == 1 ? flat / count : lane;
        mask.push_back(flat % count == from ? lanes + flat / count : own);
      }
      made = vector::ShuffleOp::create(b, made.getLoc(), made, vectors[from],
                                       mask);
    }
    result.push_back(made);
  }
  return result;
}

/// Stores whole lines of this length, as many as there are lanes.
void LaunchBuilder::interleave(Frame &frame, std::int64_t length) {
  unsigned axis = launch.axes.back().axis;
  const unsigned lanes = frame.find(launch.lane)->lanes;
  frame.bind(Binding{.axis = axis,
                     .position = emitter.constant(frame, 0),
                     .copies = unsigned(length)});
  auto inMemory = [&](qn::StoreOp store, Copies copies) {
    Value value = emitter.wide(frame, store.getValue(), copies, lanes);
    return toMemory(emitter.in(frame), loc, value, store.getValue().getType());
  };
  for (qn::StoreOp store : launch.stores) {
    Emitter::Values values;
    for (Copies copies : emitter.copiesOf(frame, axisBit(axis)))
      values.push_back(inMemory(store, copies));
    auto operand = cast<BlockArgument>(store.getTensor());
    auto type = cast<qn::OperandType>(operand.getType());
    Value first = emitter.address(frame, operand, model.axesOf(type), 0);
    Type raw = memoryType(type.getElementType());
    for (auto [number, value] :
         llvm::enumerate(inTurns(emitter.in(frame), values))) {
      Value skip = emitter.constant(frame, std::int64_t(number) * lanes);
      Value to = emitter.advance(frame, type, first, skip);
      emitter.write(frame, to, value, raw, Value());
    }
  }
}

/// Lanes go to a line each; longer lines are stored element by element.
void LaunchBuilder::interleavedLines(Frame &frame, const LoopSpec &lines,
                                     const LoopSpec &along) {
  Emitter::Values none;
  auto others = [&](Frame &rest) {
    emitter.nest(rest, along, none, [&](Frame &at, Emitter::Values &) {
      inner(at, launch.stores);
    });
  };
  bool isPlain = llvm::all_of(launch.stores, [&](qn::StoreOp store) {
    AxisSet axes = model.axesOf(store.getTensor().getType());
    return !store.getPart() && !(axes & ~launch.parallel);
  });
  SmallVector<Value> results;
  for (qn::StoreOp store : launch.stores)
    results.push_back(store.getTensor());
  emitter.nest(frame, lines, none, [&](Frame &at, Emitter::Values &) {
    const Binding *lane = at.find(lines.plan.axis);
    if (lane->lanes == 1 || lane->mask || !isPlain)
      return others(at);
    byLength(
        at, along.plan.axis, results,
        [&](Frame &line, std::int64_t length) { interleave(line, length); },
        others);
  });
}
