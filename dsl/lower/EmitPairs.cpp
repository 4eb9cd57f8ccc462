// Complex elements in neighbouring lanes: pairs are read and written whole, and
// parted or joined in registers.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Whether the lanes of a frame run along neighbouring complex elements.
bool Emitter::liesPaired(const Frame &frame, BlockArgument operand) const {
  auto type = cast<qn::OperandType>(operand.getType());
  const Binding *lane = laneOf(frame, model.axesOf(type));
  if (!lane || !isa<ComplexType>(type.getElementType()) || target.isGpu())
    return false;
  for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
    if (model.axisOf(name) == lane->axis)
      return stride == StrideClass::One;
  return false;
}

/// A vector's lanes, each twice.
static Value doubled(OpBuilder &b, Value mask, unsigned lanes) {
  SmallVector<std::int64_t> twice;
  for (unsigned lane = 0; lane < lanes; ++lane)
    twice.append(2, lane);
  return vector::ShuffleOp::create(b, mask.getLoc(), mask, mask, twice);
}

/// The real or the imaginary parts of the elements from `pointer` on.
Value Emitter::halfOfPairs(Frame &frame, Value pointer, Type element,
                           const Binding &lane, unsigned half) {
  Value mask = lane.mask ? doubled(in(frame), lane.mask, lane.lanes) : Value();
  Value pairs = read(frame, pointer, element, 2 * lane.lanes, mask, Value());
  SmallVector<std::int64_t> every;
  for (unsigned at = 0; at < lane.lanes; ++at)
    every.push_back(2 * at + half);
  return vector::ShuffleOp::create(in(frame), pairs.getLoc(), pairs, pairs,
                                   every);
}

void Emitter::storePairs(Frame &frame, qn::StoreOp first, qn::StoreOp second,
                         Copies copies) {
  auto operand = cast<BlockArgument>(first.getTensor());
  AxisSet axes = model.axesOf(first.getTensor().getType());
  const Binding *lane = laneOf(frame, axes);
  Value left = wide(frame, first.getValue(), copies, lane->lanes);
  Value right = wide(frame, second.getValue(), copies, lane->lanes);
  if (first.getPart().value_or(0) == 1)
    std::swap(left, right);
  SmallVector<std::int64_t> turns;
  for (unsigned at = 0; at < lane->lanes; ++at)
    turns.append({at, at + lane->lanes});
  Value pointer = address(frame, operand, axes, copies);
  Value mask =
      lane->mask ? doubled(in(frame), lane->mask, lane->lanes) : Value();
  Value pairs =
      vector::ShuffleOp::create(in(frame), first.getLoc(), left, right, turns);
  write(frame, pointer, pairs, first.getValue().getType(), mask);
}
