// Loads at positions that move by equal steps from lane to lane: windows with
// any stride, padding and dilation.
#include "dsl/lower/Emitter.h"
#include "dsl/lower/Turn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// How far a position moves from one lane to the next: a number, null for not
/// at all, nothing where steps may differ.
std::optional<Value> Emitter::laneStep(Frame &frame, Value value,
                                       const Binding &lane, Copies copies) {
  if (!hasAxis(model.axesOf(value), lane.axis))
    return Value();
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &model.kernel.block())
    return std::nullopt;
  if (isa<qn::IndexOp, qn::AxisOp>(op))
    return constant(frame, 1);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto left = laneStep(frame, op->getOperand(0), lane, copies);
  auto right = laneStep(frame, op->getOperand(1), lane, copies);
  if (!left || !right)
    return std::nullopt;
  Location loc = op->getLoc();
  if (isa<arith::MulIOp>(op)) {
    if (*left && *right)
      return std::nullopt;
    Value factor = emit(frame, op->getOperand(*left ? 1 : 0), copies);
    Value step = *left ? *left : *right;
    if (matchPattern(step, m_One()))
      return factor;
    return arith::MulIOp::create(in(frame), loc, step, factor).getResult();
  }
  if (isa<arith::AddIOp>(op) && (!*left || !*right))
    return *left ? *left : *right;
  if (isa<arith::SubIOp>(op) && !*right)
    return *left;
  Value from = *left ? *left : constant(frame, 0);
  OpBuilder &b = in(frame);
  if (isa<arith::AddIOp>(op))
    return arith::AddIOp::create(b, loc, from, *right).getResult();
  return b.createOrFold<arith::SubIOp>(loc, from, *right);
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
  return arith::MulIOp::create(b, loc, steps, widen(narrow, lanes));
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
    return widen(distance, lanes);
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
                          Value first, Lanes yes, Lanes no) {
  Location loc = load.getLoc();
  Type result = VectorType::get({std::int64_t(lanes)}, load.getType());
  auto branch = scf::IfOp::create(in(frame), loc, TypeRange{result}, first,
                                  /*withElseRegion=*/true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  for (auto [block, make] :
       {std::pair(branch.thenBlock(), yes), {branch.elseBlock(), no}}) {
    Frame side = Frame::inside(frame, block);
    Value made = make(side);
    scf::YieldOp::create(in(side), loc, made);
  }
  frame.anchor = anchor;
  return branch.getResult(0);
}

/// Reads lanes that lie `step` elements apart: in one piece where that turns
/// out to be one or is known to be one backwards, in two where it is two and
/// every lane reads.
Value Emitter::readSteps(Frame &frame, qn::LoadOp load, Value pointer,
                         Value step, unsigned lanes, Value mask,
                         Value otherwise) {
  auto type = cast<qn::OperandType>(load.getTensor().getType());
  Type element = load.getType();
  Location loc = load.getLoc();
  auto either = [&](Frame &at, Value first, Lanes yes, Lanes no) {
    return readEither(at, load, lanes, first, yes, no);
  };
  auto whole = [&](Frame &at) {
    return read(at, pointer, element, lanes, mask, otherwise);
  };
  auto scattered = [&](Frame &at) {
    Value pointers = advance(at, type, pointer, ramp(at, step, lanes));
    return read(at, pointers, element, lanes, mask, otherwise);
  };
  auto backwards = [&](Frame &at) {
    Value last = advance(at, type, pointer, constant(at, 1 - int(lanes)));
    OpBuilder &b = in(at);
    Value good = mask ? turnedRound(b, mask) : Value();
    Value none = otherwise ? turnedRound(b, widen(otherwise, lanes)) : Value();
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
bool Emitter::stepsOf(Frame &frame, qn::LoadOp load, const Binding &lane,
                      Copies copies, Values &steps, Value &apart) {
  auto operand = cast<BlockArgument>(load.getTensor());
  auto type = cast<qn::OperandType>(operand.getType());
  Location loc = load.getLoc();
  for (auto [number, index] : llvm::enumerate(load.getIndices())) {
    auto step = laneStep(frame, index, lane, copies);
    if (!step)
      return false;
    steps.push_back(*step);
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
SmallVector<unsigned> Emitter::testedIndices(qn::LoadOp load) const {
  SmallVector<unsigned> tested;
  qn::OperandType type = load.getTensor().getType();
  for (auto [number, index] : llvm::enumerate(load.getIndices()))
    if (load.getOutside() && !inside.contains({load, number}) &&
        !isOwnPosition(index, type.getAxes()[number]))
      tested.push_back(number);
  return tested;
}

/// Which lanes of such a load read, and what the others have.
std::pair<Value, Value> Emitter::goodSteps(Frame &frame, qn::LoadOp load,
                                           const Binding &lane, Copies copies,
                                           ArrayRef<Value> indices,
                                           ArrayRef<Value> steps) {
  qn::OperandType type = load.getTensor().getType();
  Value good, otherwise;
  if (load.getWhen())
    good = emit(frame, load.getWhen(), copies);
  if (load.getOutside())
    otherwise = wide(frame, load.getOutside(), copies, lane.lanes);
  for (unsigned number : testedIndices(load)) {
    Value index = indices[number], step = steps[number];
    Value size = extent(frame, model.axisOf(type.getAxes()[number]));
    Value fits =
        step ? lanesInside(frame, index, size, ramp(frame, step, lane.lanes))
             : inRange(frame, index, size);
    good = both(frame, good, fits);
  }
  if (good) {
    in(frame);
    good = widen(good, lane.lanes);
  }
  return {both(frame, good, lane.mask), otherwise};
}

/// Whether the first and the last lane are inside, and so all are: reads of all
/// lanes are foreseen by processors, masked ones are not. Null where lanes are
/// masked in any case.
Value Emitter::endsInside(Frame &frame, qn::LoadOp load, const Binding &lane,
                          ArrayRef<Value> indices, ArrayRef<Value> steps) {
  qn::OperandType type = load.getTensor().getType();
  SmallVector<unsigned> tested = testedIndices(load);
  if (tested.empty() || load.getWhen() || lane.mask)
    return Value();
  Value all;
  for (unsigned number : tested) {
    Value size = extent(frame, model.axisOf(type.getAxes()[number]));
    all = both(frame, all, inRange(frame, indices[number], size));
    if (!steps[number])
      continue;
    Value turns = constant(frame, lane.lanes - 1);
    OpBuilder &b = in(frame);
    Location loc = load.getLoc();
    Value way = b.createOrFold<arith::MulIOp>(loc, steps[number], turns);
    Value last = arith::AddIOp::create(b, loc, indices[number], way);
    all = both(frame, all, inRange(frame, last, size));
  }
  return all;
}

/// A load whose positions move by equal steps from lane to lane; null where it
/// is something else.
Value Emitter::affine(Frame &frame, qn::LoadOp load, Copies copies) {
  auto operand = cast<BlockArgument>(load.getTensor());
  auto type = cast<qn::OperandType>(operand.getType());
  const Binding *lane = laneOf(frame, frame.bound);
  if (!lane || load.getChecked() || model.kernel.getWide() ||
      isa<ComplexType>(type.getElementType()) || target.isGpu() ||
      load->getBlock() != &model.kernel.block())
    return Value();
  Values steps;
  Value apart;
  if (!stepsOf(frame, load, *lane, copies, steps, apart))
    return Value();
  Frame first = Frame::inside(frame, frame.block);
  first.anchor = frame.anchor;
  first.bind(Binding{.axis = lane->axis,
                     .position = position(frame, lane->axis, copies)});
  Values indices = emitAll(first, load.getIndices(), copies);
  Access access{load, operand, load.getIndices(), load.getPart()};
  Value pointer = elementPointer(first, access, indices);
  if (!ahead.rows)
    fetchAhead(first, access, copies);
  auto whole = [&](Frame &at) {
    return readSteps(at, load, pointer, apart, lane->lanes, Value(), Value());
  };
  APInt step;
  bool isNear = matchPattern(apart, m_ConstantInt(&step)) && step.abs().isOne();
  auto masked = [&](Frame &at) {
    auto [good, otherwise] = goodSteps(at, load, *lane, copies, indices, steps);
    auto some = [&](Frame &side) {
      return readSteps(side, load, pointer, apart, lane->lanes, good,
                       otherwise);
    };
    if (!load.getWhen() || !load.getOutside())
      return some(at);
    auto none = [&](Frame &side) {
      in(side);
      return widen(otherwise, lane->lanes);
    };
    Value any = vector::ReductionOp::create(in(at), load.getLoc(),
                                            vector::CombiningKind::OR, good);
    return readEither(at, load, lane->lanes, any, some, none);
  };
  bool isOnce = isNear && readsOnce(load, *lane);
  if (isOnce)
    fetchForMasked(frame, pointer);
  if (isNear && (isOnce || !launch->windows))
    if (Value all = endsInside(frame, load, *lane, indices, steps))
      return readEither(frame, load, lane->lanes, all, whole, masked);
  return masked(frame);
}
