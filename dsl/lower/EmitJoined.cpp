// Operands one behind the other along an axis: a loop over it is cut where they
// meet, so that every piece reads one of them. What differs from one operand to
// the next are words of the packet, in the same order for each.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static unsigned argumentNumber(Value value) {
  return cast<BlockArgument>(value).getArgNumber();
}

/// Word `first + number * step` of the packet.
Value Emitter::wordAt(Frame &frame, unsigned first, unsigned step, Value number,
                      Type type) {
  Value distance = constant(frame, step);
  OpBuilder &b = in(frame);
  Location loc = number.getLoc();
  Type pointer = packetPointer.getType(), word = b.getI64Type();
  Value place = arith::MulIOp::create(b, loc, number, distance);
  Value at = LLVM::GEPOp::create(b, loc, pointer, word, packetPointer,
                                 ArrayRef<LLVM::GEPArg>{place});
  at = LLVM::GEPOp::create(
      b, loc, pointer, word, at,
      ArrayRef<LLVM::GEPArg>{static_cast<std::int32_t>(first)});
  return LLVM::LoadOp::create(b, loc, type, at, /*alignment=*/8,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

/// The position behind operand `number`.
Value Emitter::joinedEnd(Frame &frame, qn::JoinedOp op, Value number) {
  unsigned first = packet.argumentWord(argumentNumber(op.getEnds().front()));
  return wordAt(frame, first, 1, number, builder.getI64Type());
}

/// The first position of operand `number`. (Some word lies before the ends.)
Value Emitter::joinedBegin(Frame &frame, qn::JoinedOp op, Value number) {
  unsigned first = packet.argumentWord(argumentNumber(op.getEnds().front()));
  Value before = wordAt(frame, first - 1, 1, number, builder.getI64Type());
  Value zero = constant(frame, 0);
  OpBuilder &b = in(frame);
  Value isFirst = arith::CmpIOp::create(b, op.getLoc(),
                                        arith::CmpIPredicate::eq, number, zero);
  return arith::SelectOp::create(b, op.getLoc(), isFirst, zero, before);
}

/// The number of the operand a position lies in, found by halves.
Value Emitter::joinedAt(Frame &frame, qn::JoinedOp op, Value position) {
  Location loc = op.getLoc();
  Value zero = constant(frame, 0), one = constant(frame, 1);
  Value last = constant(frame, op.getTensors().size() - 1);
  OpBuilder &b = in(frame);
  Type type = b.getI64Type();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{type, type},
                                   ValueRange{zero, last});
  Operation *anchor = std::exchange(frame.anchor, loop);
  Block *test = b.createBlock(&loop.getBefore(), {}, {type, type}, {loc, loc});
  Value more =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                            test->getArgument(0), test->getArgument(1));
  scf::ConditionOp::create(b, loc, more, test->getArguments());
  Block *block = b.createBlock(&loop.getAfter(), {}, {type, type}, {loc, loc});
  Frame inner = Frame::inside(frame, block);
  Value low = block->getArgument(0), high = block->getArgument(1);
  Value sum = arith::AddIOp::create(in(inner), loc, low, high);
  Value middle = arith::ShRUIOp::create(in(inner), loc, sum, one);
  Value end = joinedEnd(inner, op, middle);
  in(inner);
  Value isBehind =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, end, position);
  Value next = arith::AddIOp::create(b, loc, middle, one);
  low = arith::SelectOp::create(b, loc, isBehind, next, low);
  high = arith::SelectOp::create(b, loc, isBehind, high, middle);
  scf::YieldOp::create(b, loc, ValueRange{low, high});
  frame.anchor = anchor;
  return loop.getResult(0);
}

/// Whether a loop is cut where operands meet: its turns may be grouped anew.
bool Emitter::isCut(const LoopSpec &loop) const {
  return !target.isGpu() && !loop.reverse && !loop.turn && loop.turns == 1 &&
         !loop.plan.fixed && !grouped.contains(loop.plan.axis) &&
         model.joinedAlong(loop.plan.axis);
}

void Emitter::cutLoop(Frame &frame, LoopSpec loop, bool isWhole,
                      ArrayRef<LoopSpec> rest, Values &states, Body body) {
  qn::JoinedOp op = model.joinedAlong(loop.plan.axis);
  Location loc = op.getLoc();
  Value one = constant(frame, 1), first = constant(frame, 0);
  Value last = constant(frame, op.getTensors().size());
  if (!isWhole) {
    first = joinedAt(frame, op, loop.lower);
    Value end = arith::SubIOp::create(in(frame), loc, loop.upper, one);
    end = joinedAt(frame, op, end);
    last = arith::AddIOp::create(in(frame), loc, end, one);
  }
  auto made = scf::ForOp::create(in(frame), loc, first, last, one, states);
  if (states.empty())
    made.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(frame.anchor, made);
  Frame inner = Frame::inside(frame, made.getBody());
  Value number = made.getInductionVar();
  inner.joined[loop.plan.axis] = number;
  Value begin = joinedBegin(inner, op, number);
  Value end = joinedEnd(inner, op, number);
  OpBuilder &b = in(inner);
  loop.lower = arith::MaxSIOp::create(b, loc, loop.lower, begin);
  loop.upper = arith::MinSIOp::create(b, loc, loop.upper, end);
  loop.upper = arith::MaxSIOp::create(b, loc, loop.upper, loop.lower);
  Values carried(made.getRegionIterArgs());
  if (streaming && loop.plan.lanes > 1)
    untilAligned(inner, loop, rest, carried, body);
  openLoop(inner, loop, rest, carried, body);
  scf::YieldOp::create(in(inner), loc, carried);
  frame.anchor = anchor;
  states.assign(made.result_begin(), made.result_end());
}

/// The positions in front of the first vector of an aligned row that lies at a
/// multiple of its size.
void Emitter::untilAligned(Frame &frame, LoopSpec &loop,
                           ArrayRef<LoopSpec> rest, Values &states, Body body) {
  LoopSpec head = loop;
  head.plan.copies = 1;
  if (!target.hasMask)
    head.plan.lanes = 1;
  Value more = constant(frame, loop.plan.lanes - 1);
  Value mask = constant(frame, -static_cast<std::int64_t>(loop.plan.lanes));
  OpBuilder &b = in(frame);
  Location loc = model.kernel.getLoc();
  Value even = arith::AddIOp::create(b, loc, loop.lower, more);
  even = arith::AndIOp::create(b, loc, even, mask);
  even = arith::MinSIOp::create(b, loc, even, loop.upper);
  plainLoop(frame, head, loop.lower, even, head.plan.lanes > 1, rest, states,
            body);
  loop.lower = even;
}

/// The frame of the pieces that the loop over an axis was cut into; null where
/// it was not.
Frame *Emitter::cutFrame(Frame &from, unsigned axis) {
  Frame *frame = &from;
  while (frame->parent && hasAxis(frame->parent->bound, axis) &&
         !hasAxis(frame->rebound, axis))
    frame = frame->parent;
  Frame *around = frame->parent;
  return around && around->joined.contains(axis) ? around : nullptr;
}

Value Emitter::joined(Frame &from, qn::JoinedOp op, Copies copies) {
  AxisSet axes = model.axesOf(op.getResult());
  unsigned along = model.axisOf(op.getAxis());
  Frame &frame = home(from, axes);
  const Binding *lane = laneOf(frame, axes);
  Frame *at = cutFrame(frame, along);
  if (!at && lane && lane->axis == along)
    return joinedLanes(frame, op, *lane, copies);
  Value number;
  if (at) {
    number = at->joined.lookup(along);
  } else {
    at = &home(frame, axisBit(along));
    Copies own = project(*at, axisBit(along), copies);
    Frame::Key key{op.getEnds().front().getAsOpaquePointer(), own};
    number = at->values.lookup(key);
    if (!number)
      number = at->values[key] = joinedAt(*at, op, position(*at, along, own));
  }
  return joinedElement(frame, *at, op, number, lane, copies,
                       {lane ? lane->mask : Value(), Value()});
}

/// Lanes that may lie in several operands: each gives its own.
Value Emitter::joinedLanes(Frame &frame, qn::JoinedOp op, const Binding &lane,
                           Copies copies) {
  Location loc = op.getLoc();
  auto type = VectorType::get({std::int64_t(lane.lanes)}, op.getType());
  Value zero = constant(frame, 0), one = constant(frame, 1);
  Value count = constant(frame, op.getTensors().size());
  Value at = lanePosition(frame, lane.axis, copies);
  OpBuilder &b = in(frame);
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto loop = scf::ForOp::create(b, loc, zero, count, one, ValueRange{none});
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame inner = Frame::inside(frame, loop.getBody());
  Value number = loop.getInductionVar();
  Value begin = joinedBegin(inner, op, number);
  Value end = joinedEnd(inner, op, number);
  in(inner);
  Value behind = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, at,
                                       widen(inner, begin, lane.lanes));
  Value before = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at,
                                       widen(inner, end, lane.lanes));
  Value mask = both(inner, both(inner, behind, before), lane.mask);
  Value read = joinedElement(inner, inner, op, number, &lane, copies,
                             {mask, loop.getRegionIterArg(0)});
  scf::YieldOp::create(in(inner), loc, read);
  frame.anchor = anchor;
  return loop.getResult(0);
}

/// The element of operand `number`, whose words are read in `at`.
Value Emitter::joinedElement(Frame &frame, Frame &at, qn::JoinedOp op,
                             Value number, const Binding *lane, Copies copies,
                             LaneChoice choice) {
  qn::OperandType type = op.getOperandType();
  unsigned own = argumentNumber(op.getTensors().front());
  bool several = op.getTensors().size() > 1;
  auto wordOf = [&](auto wordOfArgument, Type of) {
    unsigned first = wordOfArgument(own);
    unsigned next = several ? wordOfArgument(own + 1) : first;
    return wordAt(at, first, next - first, number, of);
  };
  Type pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value pointer =
      wordOf([&](unsigned argument) { return packet.argumentWord(argument); },
             pointerType);
  Value begin = joinedBegin(at, op, number), laneStep;
  auto along = StrideClass::Zero;
  for (auto [place, name] : llvm::enumerate(type.getAxes())) {
    unsigned axis = model.axisOf(name);
    StrideClass stride = type.getStrides()[place];
    if (stride == StrideClass::Zero)
      continue;
    Value step, offset = position(frame, axis, copies);
    if (name == op.getAxisAttr())
      offset = arith::SubIOp::create(in(frame), op.getLoc(), offset, begin);
    if (stride == StrideClass::Dynamic) {
      step = wordOf(
          [&](unsigned argument) { return packet.strideWord(argument, place); },
          builder.getI64Type());
      offset = arith::MulIOp::create(in(frame), op.getLoc(), offset, step);
    }
    pointer = advance(frame, type, pointer, offset);
    if (lane && lane->axis == axis) {
      along = stride;
      laneStep = step;
    }
  }
  return readLanes(frame, op, pointer, lane, along, laneStep, choice);
}

/// Reads neighbours, what is the same for all lanes, or a pointer for each.
Value Emitter::readLanes(Frame &frame, qn::JoinedOp op, Value pointer,
                         const Binding *lane, StrideClass along, Value step,
                         LaneChoice choice) {
  qn::OperandType type = op.getOperandType();
  auto half = op.getPart();
  bool isComplex = isa<ComplexType>(type.getElementType());
  auto one = [&](unsigned lanes, LaneChoice of) {
    return read(frame, part(frame, type, pointer, half), op.getType(), lanes,
                of.mask, of.otherwise);
  };
  if (!lane || (along == StrideClass::Zero && !choice.otherwise)) {
    Value element = one(1, {});
    return widen(frame, element, lane ? lane->lanes : 1);
  }
  if (along == StrideClass::One && !isComplex)
    return one(lane->lanes, choice);
  if (along == StrideClass::One && half && !choice.otherwise)
    return halfOfPairs(frame, pointer, op.getType(), *lane, *half);
  if (along == StrideClass::Zero)
    step = constant(frame, 0);
  auto numbers = llvm::to_vector(llvm::seq<std::int64_t>(0, lane->lanes));
  OpBuilder &b = in(frame);
  auto wide = VectorType::get({std::int64_t(lane->lanes)}, b.getI64Type());
  Value steps = arith::ConstantOp::create(
      b, op.getLoc(), DenseElementsAttr::get(wide, ArrayRef(numbers)));
  if (step)
    steps = arith::MulIOp::create(b, op.getLoc(), steps,
                                  widen(frame, step, lane->lanes));
  pointer = advance(frame, type, pointer, steps);
  return one(lane->lanes, choice);
}
