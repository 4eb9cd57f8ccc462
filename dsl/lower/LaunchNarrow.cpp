// Results with lines of few elements, as images have for a few channels: lanes
// run across them.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Whether lines have this length and follow each other in all results.
Value LaunchBuilder::areLines(Frame &frame, std::int64_t length) {
  Value size = emitter.constant(frame, length);
  auto isSize = [&](Value value) -> Value {
    return arith::CmpIOp::create(emitter.in(frame), loc,
                                 arith::CmpIPredicate::eq, value, size);
  };
  Value holds = isSize(emitter.extent(frame, launch.axes.back().axis));
  for (qn::StoreOp store : launch.stores) {
    auto operand = cast<BlockArgument>(store.getTensor());
    qn::OperandType type = store.getTensor().getType();
    for (auto [number, name] : llvm::enumerate(type.getAxes())) {
      if (static_cast<int>(model.axisOf(name)) != launch.lane)
        continue;
      // Where the stride is known it is one, or nothing moves.
      bool isAsked = type.getStrides()[number] == StrideClass::Dynamic;
      Value step = isAsked ? emitter.stride(frame, operand, number)
                           : emitter.constant(frame, 1);
      Value follows = isSize(step);
      holds = arith::AndIOp::create(emitter.in(frame), loc, holds, follows);
    }
  }
  return holds;
}

/// Stores whole lines of this length, as many as there are lanes.
void LaunchBuilder::putTogether(Frame &frame, std::int64_t length) {
  unsigned axis = launch.axes.back().axis;
  const unsigned lanes = frame.find(launch.lane)->lanes;
  frame.bind(Binding{.axis = axis,
                     .position = emitter.constant(frame, 0),
                     .copies = unsigned(length)});
  for (qn::StoreOp store : launch.stores) {
    Emitter::Values values;
    for (Copies copies : emitter.copiesOf(frame, axisBit(axis)))
      values.push_back(emitter.wide(frame, store.getValue(), copies, lanes));
    auto operand = cast<BlockArgument>(store.getTensor());
    auto type = cast<qn::OperandType>(operand.getType());
    Value first = emitter.address(frame, operand, model.axesOf(type), 0);
    Type element = type.getElementType();
    for (auto [number, value] :
         llvm::enumerate(inTurns(emitter.in(frame), values))) {
      Value skip = emitter.constant(frame, std::int64_t(number) * lanes);
      Value to = emitter.advance(frame, type, first, skip);
      emitter.write(frame, to, value, element, Value());
    }
  }
}

/// Lines of this length or a longer one that is put together; `others` makes
/// all that are not.
void LaunchBuilder::shortLine(Frame &frame, std::int64_t length,
                              OtherLines others) {
  if (length > longestLine)
    return others(frame);
  Value holds = areLines(frame, length);
  auto branch = scf::IfOp::create(emitter.in(frame), loc, holds, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame line = Frame::inside(frame, branch.thenBlock());
  line.anchor = branch.thenBlock()->getTerminator();
  putTogether(line, length);
  Frame other = Frame::inside(frame, branch.elseBlock());
  other.anchor = branch.elseBlock()->getTerminator();
  shortLine(other, length + 1, others);
  frame.anchor = anchor;
}

/// Lanes go to a line each; longer lines are stored element by element.
void LaunchBuilder::shortLines(Frame &frame, const LoopSpec &lines,
                               const LoopSpec &along) {
  Emitter::Values none;
  auto others = [&](Frame &rest) {
    emitter.nest(rest, along, none, [&](Frame &at, Emitter::Values &) {
      inner(at, launch.stores);
    });
  };
  bool isPlain = llvm::none_of(launch.stores, [](qn::StoreOp store) {
    return store.getPart() || store.getValue().getType().isInteger(1);
  });
  emitter.nest(frame, lines, none, [&](Frame &at, Emitter::Values &) {
    const Binding *lane = at.find(lines.plan.axis);
    bool isWhole = lane->lanes > 1 && !lane->mask && isPlain;
    shortLine(at, isWhole ? 2 : longestLine + 1, others);
  });
}
