// Operands with lines of few elements, as images have with a few channels side
// by side, while lanes run across them: lines are read whole and taken apart.
#include "dsl/dialect/Behind.h"
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

SmallVector<qn::LoadOp> LaunchBuilder::linesAcross() const {
  llvm::SmallSetVector<qn::LoadOp, 4> loads;
  if (launch.turned < 0 || !model.kernel.getShortRows() || target.isGpu())
    return {};
  for (qn::StoreOp store : launch.stores)
    walkBehind(store.getValue(), [&](Operation *op) {
      auto load = dyn_cast<qn::LoadOp>(op);
      if (load && load->getBlock() == &model.kernel.block() &&
          launch.alongTurned(model, load) == launch.turned &&
          !(model.axesOf(load.getTensor().getType()) & ~launch.parallel))
        loads.insert(load);
      return WalkResult::advance();
    });
  return loads.takeVector();
}

/// Reads as many lines of this length as there are lanes.
void LaunchBuilder::takeApart(Frame &frame, ArrayRef<qn::LoadOp> loads,
                              std::int64_t length) {
  const unsigned lanes = frame.find(launch.lane)->lanes;
  frame.bind(Binding{.axis = unsigned(launch.turned),
                     .position = emitter.constant(frame, 0),
                     .copies = unsigned(length)});
  for (qn::LoadOp load : loads) {
    auto operand = cast<BlockArgument>(load.getTensor());
    auto type = cast<qn::OperandType>(operand.getType());
    Value first = emitter.address(frame, operand, model.axesOf(type), 0);
    Emitter::Values vectors;
    for (std::int64_t number = 0; number != length; ++number) {
      Value skip = emitter.constant(frame, number * lanes);
      Value from = emitter.advance(frame, type, first, skip);
      vectors.push_back(emitter.read(frame, from, type.getElementType(), lanes,
                                     Value(), Value()));
    }
    for (auto [number, copies] :
         llvm::enumerate(emitter.copiesOf(frame, axisBit(launch.turned))))
      frame.values[{load.getResult().getAsOpaquePointer(), copies}] =
          everyNth(emitter.in(frame), vectors, std::int64_t(number));
  }
  inner(frame, launch.stores);
}

void LaunchBuilder::linesApart(Frame &frame, ArrayRef<LoopSpec> loops,
                               ArrayRef<qn::LoadOp> loads, OtherLines others) {
  SmallVector<Value> operands;
  for (qn::LoadOp load : loads)
    operands.push_back(load.getTensor());
  Emitter::Values none;
  auto apart = [&](Frame &lines, std::int64_t length) {
    emitter.nest(lines, loops.front(), none, [&](Frame &at, Emitter::Values &) {
      const Binding *lane = at.find(launch.lane);
      if (lane->lanes > 1 && !lane->mask)
        return takeApart(at, loads, length);
      emitter.nest(at, loops.back(), none, [&](Frame &each, Emitter::Values &) {
        inner(each, launch.stores);
      });
    });
  };
  byLength(frame, launch.turned, operands, apart, others);
}
