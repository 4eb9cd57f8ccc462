// Loads at positions that move by equal steps from lane to lane: windows with
// any stride, padding and dilation.
#include "dsl/lower/Anchor.h"
#include "dsl/lower/Emitter.h"
#include "dsl/lower/Turn.h"
#include "dsl/schedule/StepAlong.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

namespace {
/// Steps as code of a frame; null for values that do not move.
struct StepCode {
  using Number = Value;
  Emitter &emitter;
  Frame &frame;
  Copies copies;

  Value zero() { return {}; }
  Value one() { return emitter.constant(frame, 1); }
  Value add(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    return arith::AddIOp::create(emitter.in(frame), a.getLoc(), a, b);
  }
  Value subtract(Value a, Value b) {
    if (!b)
      return a;
    Value from = a ? a : emitter.constant(frame, 0);
    return emitter.in(frame).createOrFold<arith::SubIOp>(b.getLoc(), from, b);
  }
  std::optional<Value> scale(Value step, Value by) {
    Value factor = emitter.emit(frame, by, copies);
    if (matchPattern(step, m_One()))
      return factor;
    OpBuilder &b = emitter.in(frame);
    return arith::MulIOp::create(b, by.getLoc(), step, factor).getResult();
  }
};
} // namespace

/// How far a position moves from one lane to the next: a number, null for not
/// at all, nothing where steps may differ.
std::optional<Value> Emitter::laneStep(Frame &frame, Value value,
                                       const Binding &lane, Copies copies) {
  StepCode code{*this, frame, copies};
  return StepAlong<StepCode>(model, lane.axis, code).of(value);
}

/// 0, step, 2 step, … in 32 bits.
Value Emitter::ramp(Frame &frame, Value step, unsigned lanes) {
  OpBuilder &b = in(frame);
  Location loc = step.getLoc();
  auto numbers = llvm::to_vector(llvm::seq<std::int32_t>(0, lanes));
  auto type = VectorType::get({std::int64_t(lanes)}, b.getI32Type());
  Value steps = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  if (matchPattern(step, m_One()))
    return steps;
  Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), step);
  return arith::MulIOp::create(b, loc, steps, widen(frame, narrow, lanes));
}

/// The lanes whose positions `first + ramp` lie in [0, extent).
Value Emitter::lanesInside(Frame &frame, Value first, Value extent,
                           Value ramp) {
  Value zero = constant(frame, 0);
  Value most = constant(frame, std::numeric_limits<std::int32_t>::max());
  Value least = constant(frame, std::numeric_limits<std::int32_t>::min());
  OpBuilder &b = in(frame);
  Location loc = first.getLoc();
  unsigned lanes = cast<VectorType>(ramp.getType()).getNumElements();
  auto narrow = [&](Value distance) {
    distance = arith::MinSIOp::create(b, loc, distance, most);
    distance = arith::MaxSIOp::create(b, loc, distance, least);
    distance = arith::TruncIOp::create(b, loc, b.getI32Type(), distance);
    return widen(frame, distance, lanes);
  };
  Value left = narrow(arith::SubIOp::create(b, loc, extent, first));
  Value low = narrow(arith::SubIOp::create(b, loc, zero, first));
  Value below =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, ramp, left);
  Value above =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, ramp, low);
  return arith::AndIOp::create(b, loc, below, above);
}

/// Every second element of two vectors that meet in one element.
static Value everySecond(OpBuilder &b, Value low, Value high) {
  std::int64_t lanes = cast<VectorType>(low.getType()).getNumElements();
  SmallVector<std::int64_t> picks;
  for (std::int64_t at = 0; at < 2 * lanes; at += 2)
    picks.push_back(at < lanes ? at : at + 1);
  return vector::ShuffleOp::create(b, low.getLoc(), low, high, picks);
}

static Value equals(OpBuilder &b, Value value, std::int64_t number) {
  Location loc = value.getLoc();
  Value other = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(number));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, other);
}

/// The lanes of a load in one of two ways.
Value Emitter::readEither(Frame &frame, qn::LoadOp load, unsigned lanes,
                          Value first, Reads yes, Reads no) {
  Location loc = load.getLoc();
  Type result = VectorType::get({std::int64_t(lanes)}, load.getType());
  auto branch = scf::IfOp::create(in(frame), loc, TypeRange{result}, first,
                                  /*withElseRegion=*/true);
  Anchor anchor(frame, branch);
  for (auto [block, make] :
       {std::pair(branch.thenBlock(), yes), {branch.elseBlock(), no}}) {
    Frame side = Frame::inside(frame, block);
    Value made = make(side);
    scf::YieldOp::create(in(side), loc, made);
  }
  return branch.getResult(0);
}

/// The places of lanes whose distances from the first lane's are given: counted
/// from the operand's first element, since the first lane's may lie so far
/// outside that distances from it exceed 32 bits.
static Value pointersApart(Emitter &emitter, Frame &at, Walk &walk,
                           Value places) {
  if (walk.offset) {
    OpBuilder &b = emitter.in(at);
    Location loc = walk.load.getLoc();
    unsigned lanes = cast<VectorType>(places.getType()).getNumElements();
    Value first = arith::TruncIOp::create(b, loc, b.getI32Type(), walk.offset);
    first = emitter.widen(at, first, lanes);
    places = arith::AddIOp::create(b, loc, places, first);
  }
  auto operand = cast<BlockArgument>(walk.load.getTensor());
  Value base = emitter.pointerTo(at, operand);
  return emitter.advance(at, walk.type(), base, places);
}

/// Reads lanes that lie `step` elements apart: in one piece where that turns
/// out to be one or is known to be one backwards, in two where it is two and
/// every lane reads.
Value Emitter::readSteps(Frame &frame, Walk &walk, unsigned lanes, Value mask,
                         Value otherwise) {
  qn::OperandType type = walk.type();
  Type element = walk.load.getType();
  Location loc = walk.load.getLoc();
  Value pointer = walk.pointer, step = walk.apart;
  auto either = [&](Frame &at, Value first, Reads yes, Reads no) {
    return readEither(at, walk.load, lanes, first, yes, no);
  };
  auto whole = [&](Frame &at) {
    return read(at, pointer, element, lanes, mask, otherwise);
  };
  auto scattered = [&](Frame &at) {
    Value pointers = pointersApart(*this, at, walk, ramp(at, step, lanes));
    return read(at, pointers, element, lanes, mask, otherwise);
  };
  auto backwards = [&](Frame &at) {
    Value last = advance(at, type, pointer, constant(at, 1 - int(lanes)));
    OpBuilder &b = in(at);
    Value good = mask ? turnedRound(b, mask) : Value();
    Value none =
        otherwise ? turnedRound(b, widen(at, otherwise, lanes)) : Value();
    Value made = read(at, last, element, lanes, good, none);
    return turnedRound(in(at), made);
  };
  auto inTwo = [&](Frame &at) {
    Value low = read(at, pointer, element, lanes, Value(), Value());
    Value behind = advance(at, type, pointer, constant(at, lanes - 1));
    Value high = read(at, behind, element, lanes, Value(), Value());
    return everySecond(in(at), low, high);
  };
  auto apart = [&](Frame &at) {
    Value two = equals(in(at), step, 2);
    if (mask)
      two = both(at, two,
                 vector::ReductionOp::create(in(at), loc,
                                             vector::CombiningKind::AND, mask));
    return either(at, two, inTwo, scattered);
  };
  if (matchPattern(step, m_One()))
    return whole(frame);
  APInt number;
  if (matchPattern(step, m_ConstantInt(&number))) {
    if (number.isAllOnes())
      return backwards(frame);
    return number == 2 ? apart(frame) : scattered(frame);
  }
  return either(frame, equals(in(frame), step, 1), whole, apart);
}

/// How far each index moves from lane to lane, and how many elements apart the
/// lanes' elements lie; false where the lanes' steps may differ or are zero.
bool Emitter::stepsOf(Frame &frame, Walk &walk, const Binding &lane) {
  auto operand = cast<BlockArgument>(walk.load.getTensor());
  qn::OperandType type = walk.type();
  Location loc = walk.load.getLoc();
  Value &apart = walk.apart;
  for (auto [number, index] : llvm::enumerate(walk.load.getIndices())) {
    auto step = laneStep(frame, index, lane, walk.copies);
    if (!step)
      return false;
    walk.steps.push_back(*step);
    StrideClass stride = type.getStrides()[number];
    if (!*step || stride == StrideClass::Zero)
      continue;
    Value distance = *step;
    if (stride == StrideClass::Dynamic) {
      Value by = this->stride(frame, operand, number);
      distance = arith::MulIOp::create(in(frame), loc, distance, by);
    }
    if (apart)
      distance = arith::AddIOp::create(in(frame), loc, apart, distance);
    apart = distance;
  }
  return static_cast<bool>(apart);
}

/// The indices of a load whose places have to be looked at.
static SmallVector<unsigned> testedIndices(const Emitter &emitter,
                                           qn::LoadOp load) {
  SmallVector<unsigned> tested;
  qn::OperandType type = load.getTensor().getType();
  for (auto [number, index] : llvm::enumerate(load.getIndices()))
    if (load.getOutside() && !emitter.inside.contains({load, number}) &&
        !isOwnPosition(index, type.getAxes()[number]))
      tested.push_back(number);
  return tested;
}

/// Which lanes of such a load read; null: all.
Value Emitter::goodSteps(Frame &frame, Walk &walk, const Binding &lane) {
  qn::LoadOp load = walk.load;
  Value good;
  if (load.getWhen())
    good = emit(frame, load.getWhen(), walk.copies);
  for (unsigned number : testedIndices(*this, load)) {
    Value index = walk.indices[number], step = walk.steps[number];
    Value size = extent(frame, model.axisOf(walk.type().getAxes()[number]));
    Value fits =
        step ? lanesInside(frame, index, size, ramp(frame, step, lane.lanes))
             : inRange(frame, index, size);
    good = both(frame, good, fits);
  }
  if (good) {
    good = widen(frame, good, lane.lanes);
  }
  return both(frame, good, lane.mask);
}

/// Whether the first and the last lane are inside, and so all are: reads of all
/// lanes are foreseen by processors, masked ones are not. Null where lanes are
/// masked in any case.
Value Emitter::endsInside(Frame &frame, Walk &walk, const Binding &lane) {
  SmallVector<unsigned> tested = testedIndices(*this, walk.load);
  if (tested.empty() || walk.load.getWhen() || lane.mask)
    return Value();
  Value all;
  for (unsigned number : tested) {
    Value index = walk.indices[number], step = walk.steps[number];
    Value size = extent(frame, model.axisOf(walk.type().getAxes()[number]));
    all = both(frame, all, inRange(frame, index, size));
    if (!step)
      continue;
    Value turns = constant(frame, lane.lanes - 1);
    OpBuilder &b = in(frame);
    Location loc = walk.load.getLoc();
    Value way = b.createOrFold<arith::MulIOp>(loc, step, turns);
    Value last = arith::AddIOp::create(b, loc, index, way);
    all = both(frame, all, inRange(frame, last, size));
  }
  return all;
}

/// Reads the lanes that are good; nothing where none of those asks that may.
Value Emitter::readGood(Frame &frame, Walk &walk, const Binding &lane) {
  Value otherwise, good = goodSteps(frame, walk, lane);
  if (Value outside = walk.load.getOutside())
    otherwise = wide(frame, outside, walk.copies, lane.lanes);
  auto some = [&](Frame &at) {
    return readSteps(at, walk, lane.lanes, good, otherwise);
  };
  if (!walk.load.getWhen() || !walk.load.getOutside())
    return some(frame);
  auto none = [&](Frame &at) { return widen(at, otherwise, lane.lanes); };
  Value any = vector::ReductionOp::create(in(frame), walk.load.getLoc(),
                                          vector::CombiningKind::OR, good);
  return readEither(frame, walk.load, lane.lanes, any, some, none);
}

/// Steps with which the positions of a vector's lanes differ by 31 bits at
/// most: lanes are at most 64, and steps times lanes stay exact.
constexpr std::int64_t longestStep = 1 << 24;

/// Whether no step is longer than `longestStep`; null: it is known. False as a
/// constant where it is known that one is longer.
static Value hasShortSteps(Emitter &emitter, Frame &frame, const Walk &walk) {
  Value all;
  Location loc = walk.load->getLoc();
  for (Value step : walk.steps) {
    APInt number;
    bool isConstant = step && matchPattern(step, m_ConstantInt(&number));
    if (!step || (isConstant && number.abs().ule(longestStep)))
      continue;
    Value least = emitter.constant(frame, longestStep);
    Value most = emitter.constant(frame, 2 * longestStep);
    OpBuilder &b = emitter.in(frame);
    Value from = b.createOrFold<arith::AddIOp>(loc, step, least);
    Value isShort = b.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::ule, from, most);
    all = all ? b.createOrFold<arith::AndIOp>(loc, all, isShort) : isShort;
  }
  return all;
}

/// A load whose positions move by equal steps from lane to lane; null where it
/// is something else.
Value Emitter::affine(Frame &frame, qn::LoadOp load, Copies copies) {
  Walk walk(load, copies);
  const Binding *lane = laneOf(frame, frame.bound);
  if (!lane || load.getChecked() || model.kernel.getWide() ||
      isa<ComplexType>(walk.type().getElementType()) || target.isGpu() ||
      load->getBlock() != &model.kernel.block() || !stepsOf(frame, walk, *lane))
    return Value();
  Value isShort = hasShortSteps(*this, frame, walk);
  if (isShort && matchPattern(isShort, m_Zero()))
    return Value();
  if (!isShort)
    return readWalk(frame, walk, *lane);
  return readEither(
      frame, load, lane->lanes, isShort,
      [&](Frame &at) { return readWalk(at, walk, *lane); },
      [&](Frame &at) {
        Local local;
        Value each = gathered(at, load, local, copies);
        return widen(at, each, lane->lanes);
      });
}

/// Reads the lanes of such a load.
Value Emitter::readWalk(Frame &frame, Walk &walk, const Binding &lane) {
  qn::LoadOp load = walk.load;
  Frame first = Frame::inside(frame, frame.block);
  first.anchor = frame.anchor;
  first.bind(Binding{.axis = lane.axis,
                     .position = position(frame, lane.axis, walk.copies)});
  walk.indices = emitAll(first, load.getIndices(), walk.copies);
  Access access{load, cast<BlockArgument>(load.getTensor()), load.getIndices(),
                load.getPart()};
  walk.offset = elementOffset(*this, first, access, walk.indices).first;
  walk.pointer = elementPointer(first, access, walk.indices);
  if (!ahead.rows)
    fetchAhead(first, access, walk.copies);
  APInt step;
  bool isNear =
      matchPattern(walk.apart, m_ConstantInt(&step)) && step.abs().isOne();
  bool isOnce = isNear && model.readsOnce(load, lane.axis);
  // Whole vectors between masked ones are not foreseen either.
  if (isOnce && (lane.mask || load.getWhen() || load.getOutside()))
    fetchForMasked(frame, walk.pointer);
  auto masked = [&](Frame &at) { return readGood(at, walk, lane); };
  auto whole = [&](Frame &at) {
    return readSteps(at, walk, lane.lanes, Value(), Value());
  };
  if (isNear && (isOnce || !launch->windows))
    if (Value all = endsInside(frame, walk, lane))
      return readEither(frame, load, lane.lanes, all, whole, masked);
  return masked(frame);
}
