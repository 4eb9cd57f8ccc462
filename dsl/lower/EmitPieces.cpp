// Loads at positions that move evenly over one vector though not over the whole
// axis: mirrors, edges, wraps, repetition. Neighbours are read in one piece
// where the two ends say that no condition changes between them.
#include "dsl/lower/Emitter.h"
#include "dsl/lower/Turn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quern;

static bool isOrdered(arith::CmpIPredicate predicate) {
  using enum arith::CmpIPredicate;
  return predicate == slt || predicate == sle || predicate == sgt ||
         predicate == sge;
}

static bool isEquality(arith::CmpIPredicate predicate) {
  using enum arith::CmpIPredicate;
  return predicate == eq || predicate == ne;
}

/// `a ^ b < 0`, whether two numbers differ in sign; null for anything else.
static arith::XOrIOp signsDiffer(arith::CmpIOp op) {
  auto mixed = op.getLhs().getDefiningOp<arith::XOrIOp>();
  bool isZero = matchPattern(op.getRhs(), m_Zero());
  return isZero && isOrdered(op.getPredicate()) ? mixed : arith::XOrIOp();
}

using Motion = Emitter::Motion;

/// What an operation makes of operands that move so, while no condition in it
/// changes.
static std::optional<Motion> motionOf(Operation *op, ArrayRef<Motion> parts) {
  bool still =
      llvm::all_of(parts, [](Motion part) { return part == Motion::Still; });
  Motion most = still ? Motion::Still : Motion::Even;
  auto none = std::optional<Motion>();
  return llvm::TypeSwitch<Operation *, std::optional<Motion>>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp,
            arith::MaxUIOp, arith::MinUIOp>([&](auto) { return most; })
      .Case([&](arith::MulIOp) {
        return llvm::is_contained(parts, Motion::Still) ? most : none;
      })
      .Case([&](arith::DivSIOp) {
        return parts[1] == Motion::Still ? Motion::Still : none;
      })
      .Case([&](arith::RemSIOp) {
        return parts[1] == Motion::Still ? most : none;
      })
      .Case([&](arith::SelectOp) {
        if (parts[0] != Motion::Still)
          return none;
        bool same = parts[1] == Motion::Still && parts[2] == Motion::Still;
        return std::optional(same ? Motion::Still : Motion::Even);
      })
      .Case([&](arith::CmpIOp compare) {
        auto predicate = compare.getPredicate();
        bool known = isOrdered(predicate) || isEquality(predicate);
        return known ? std::optional(Motion::Still) : none;
      })
      .Case<arith::AndIOp, arith::OrIOp>([&](auto logic) {
        return logic.getType().isInteger(1) && still ? most : none;
      })
      .Default(none);
}

/// How a position moves over one vector, while no condition in it changes.
std::optional<Motion> Emitter::motion(Value value, const Binding &lane,
                                      Motions &known) {
  if (!hasAxis(model.axesOf(value), lane.axis))
    return Motion::Still;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &model.kernel.block())
    return std::nullopt;
  if (isa<qn::IndexOp, qn::AxisOp>(op))
    return Motion::Even;
  auto [at, isNew] = known.try_emplace(value, std::nullopt);
  if (!isNew)
    return at->second;
  Operation *source = op;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    if (arith::XOrIOp mixed = signsDiffer(compare))
      source = mixed;
  SmallVector<Motion> parts;
  for (Value operand : source->getOperands()) {
    auto part = motion(operand, lane, known);
    if (!part)
      return std::nullopt;
    parts.push_back(*part);
  }
  return known[value] = motionOf(op, parts);
}

/// Whether a comparison has one outcome over the vector.
Value Emitter::sameOutcome(Ends &ends, arith::CmpIPredicate predicate, Value a,
                           Value b) {
  Location loc = a.getLoc();
  auto outcome = [&](Frame &end) {
    Value left = emit(end, a, ends.copies);
    Value right = b ? emit(end, b, ends.copies) : constant(end, 0);
    return arith::CmpIOp::create(in(end), loc, predicate, left, right);
  };
  Value first = outcome(ends.first), last = outcome(ends.last);
  return arith::CmpIOp::create(in(ends.last), loc, arith::CmpIPredicate::eq,
                               first, last);
}

/// Whether a value grows by as much as another over the vector; where there is
/// no other, by nothing.
Value Emitter::sameGrowth(Ends &ends, Value value, Value other) {
  Location loc = value.getLoc();
  auto growth = [&](Value of) -> Value {
    Value first = emit(ends.first, of, ends.copies);
    Value last = emit(ends.last, of, ends.copies);
    return arith::SubIOp::create(in(ends.last), loc, last, first);
  };
  Value grown = growth(value);
  Value wanted = other ? growth(other) : constant(ends.last, 0);
  return arith::CmpIOp::create(in(ends.last), loc, arith::CmpIPredicate::eq,
                               grown, wanted);
}

/// Conditions of which only one side counts: the arm that is taken, the operand
/// that decides.
Value Emitter::holdsByChoice(Ends &ends, Operation *op) {
  Location loc = op->getLoc();
  Value deciding = holds(ends, op->getOperand(0));
  Value one = holds(ends, op->getOperand(1));
  Value other =
      op->getNumOperands() > 2 ? holds(ends, op->getOperand(2)) : Value();
  OpBuilder &b = in(ends.last);
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  Value condition = emit(ends.first, op->getOperand(0), ends.copies);
  if (isa<arith::OrIOp>(op)) // decided where the first is true
    std::swap(one, other);
  if (!one && !other)
    return deciding;
  Value chosen = arith::SelectOp::create(in(ends.last), loc, condition,
                                         one ? one : yes, other ? other : yes);
  return both(ends.last, deciding, chosen);
}

/// Whether no condition behind a position changes over the vector; null where
/// there is none.
Value Emitter::holds(Ends &ends, Value value) {
  if (!hasAxis(model.axesOf(value), ends.axis))
    return Value();
  Operation *op = value.getDefiningOp();
  if (isa<qn::IndexOp, qn::AxisOp>(op))
    return Value();
  if (auto found = ends.known.find(value); found != ends.known.end())
    return found->second;
  Value all;
  auto also = [&](Value more) { all = both(ends.last, all, more); };
  auto compare = dyn_cast<arith::CmpIOp>(op);
  arith::XOrIOp mixed = compare ? signsDiffer(compare) : arith::XOrIOp();
  if (isa<arith::SelectOp, arith::AndIOp, arith::OrIOp>(op))
    return ends.known[value] = holdsByChoice(ends, op);
  for (Value operand : mixed ? mixed->getOperands() : op->getOperands())
    also(holds(ends, operand));
  using enum arith::CmpIPredicate;
  if (mixed) {
    also(sameOutcome(ends, slt, mixed.getLhs(), Value()));
    also(sameOutcome(ends, slt, mixed.getRhs(), Value()));
  } else if (compare && isEquality(compare.getPredicate())) {
    also(sameOutcome(ends, slt, compare.getLhs(), compare.getRhs()));
    also(sameOutcome(ends, sgt, compare.getLhs(), compare.getRhs()));
  } else if (compare) {
    also(sameOutcome(ends, compare.getPredicate(), compare.getLhs(),
                     compare.getRhs()));
  } else if (isa<arith::MaxSIOp, arith::MinSIOp>(op)) {
    also(sameOutcome(ends, sge, op->getOperand(0), op->getOperand(1)));
  } else if (isa<arith::MaxUIOp, arith::MinUIOp>(op)) {
    also(sameOutcome(ends, uge, op->getOperand(0), op->getOperand(1)));
  } else if (isa<arith::DivSIOp>(op)) {
    also(sameGrowth(ends, value, Value()));
  } else if (isa<arith::RemSIOp>(op)) {
    also(sameGrowth(ends, value, op->getOperand(0)));
  }
  return ends.known[value] = all;
}

/// Whether wraps behind positions are far enough apart to be worth a look; null
/// where there are none.
Value Emitter::wrapsRarely(Frame &frame, ArrayRef<Value> seen,
                           const Binding &lane, Copies copies) {
  Value rare;
  for (Value value : seen) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<arith::DivSIOp, arith::RemSIOp>(op))
      continue;
    Value by = op->getOperand(1);
    while (auto guard = by.getDefiningOp<arith::SelectOp>())
      by = guard.getFalseValue(); // a divisor is guarded against zero
    if (hasAxis(model.axesOf(by), lane.axis))
      continue;
    by = emit(frame, by, copies);
    Value least = constant(frame, lane.lanes);
    rare = both(frame, rare,
                arith::CmpIOp::create(in(frame), value.getLoc(),
                                      arith::CmpIPredicate::sge, by, least));
  }
  return rare;
}

/// Whether the vector's elements are neighbours inside the operand, where the
/// lowest lies, and whether they fall.
Emitter::Values Emitter::readEnds(Ends &ends, qn::LoadOp load, unsigned lanes) {
  auto operand = cast<BlockArgument>(load.getTensor());
  auto type = cast<qn::OperandType>(operand.getType());
  Location loc = load.getLoc();
  Access access{load, operand, load.getIndices(), load.getPart()};
  Value good;
  Values near = emitAll(ends.first, load.getIndices(), ends.copies);
  Values far = emitAll(ends.last, load.getIndices(), ends.copies);
  bool tested = load.getOutside() || load.getChecked();
  for (auto [number, index] : llvm::enumerate(load.getIndices())) {
    good = both(ends.last, good, holds(ends, index));
    StringAttr axis = type.getAxes()[number];
    if (!tested || isOwnPosition(index, axis))
      continue;
    Value size = extent(ends.last, model.axisOf(axis));
    good = both(ends.last, good, inRange(ends.last, near[number], size));
    if (far[number] != near[number])
      good = both(ends.last, good, inRange(ends.last, far[number], size));
  }
  Value low = elementPointer(ends.first, access, near);
  Value high = elementPointer(ends.last, access, far);
  std::int64_t bytes = storedBytes(type.getElementType()) * (lanes - 1);
  Value up = constant(ends.last, bytes), down = constant(ends.last, -bytes);
  OpBuilder &b = in(ends.last);
  Type word = b.getI64Type();
  Value distance = arith::SubIOp::create(
      b, loc, LLVM::PtrToIntOp::create(b, loc, word, high),
      LLVM::PtrToIntOp::create(b, loc, word, low));
  Value rises =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, distance, up);
  Value falls =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, distance, down);
  Value even = arith::OrIOp::create(b, loc, rises, falls);
  low = arith::SelectOp::create(b, loc, falls, high, low);
  return {both(ends.last, even, good), low, falls};
}

/// The ends of a vector, looked at only where `hope` holds, if it is given.
Emitter::Values Emitter::lookAtEnds(Frame &frame, qn::LoadOp load,
                                    const Binding &lane, Copies copies,
                                    Value hope) {
  Value begin = position(frame, lane.axis, copies);
  auto look = [&](Frame &at) {
    Value steps = constant(at, lane.lanes - 1);
    Value end = arith::AddIOp::create(in(at), load.getLoc(), begin, steps);
    Ends ends;
    ends.axis = lane.axis;
    ends.copies = copies;
    for (auto [side, place] :
         {std::pair(&ends.first, begin), {&ends.last, end}}) {
      *side = Frame::inside(at, at.block);
      side->anchor = at.anchor;
      side->bind(Binding{.axis = lane.axis, .position = place});
    }
    return readEnds(ends, load, lane.lanes);
  };
  if (!hope)
    return look(frame);
  OpBuilder &b = in(frame);
  Location loc = load.getLoc();
  Type bit = b.getI1Type();
  Type types[] = {bit, LLVM::LLVMPointerType::get(b.getContext()), bit};
  auto branch = scf::IfOp::create(b, loc, types, hope, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  Values seen = look(yes);
  scf::YieldOp::create(in(yes), loc, seen);
  frame.anchor = anchor;
  builder.setInsertionPointToEnd(branch.elseBlock());
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value nowhere = LLVM::ZeroOp::create(b, loc, types[1]);
  scf::YieldOp::create(b, loc, ValueRange{no, nowhere, no});
  return Values(branch.getResults());
}

/// A load whose vectors may be read in one piece; null where none can be.
Value Emitter::pieced(Frame &frame, qn::LoadOp load, Copies copies) {
  auto type = cast<qn::OperandType>(load.getTensor().getType());
  const Binding *lane = laneOf(frame, frame.bound);
  if (!lane || lane->mask || load.getWhen() || target.isGpu() ||
      isa<ComplexType>(type.getElementType()) ||
      load->getBlock() != &model.kernel.block())
    return Value();
  Motions known;
  bool walks = false, plain = true;
  for (auto [number, index] : llvm::enumerate(load.getIndices())) {
    auto moves = motion(index, *lane, known);
    if (!moves)
      return Value();
    walks |=
        *moves == Motion::Even && type.getStrides()[number] == StrideClass::One;
    plain &= !hasAxis(model.axesOf(index), lane->axis) ||
             isOwnPosition(index, type.getAxes()[number]);
  }
  if (!walks || plain)
    return Value();
  SmallVector<Value> seen(llvm::make_first_range(known));
  llvm::sort(seen, [](Value a, Value b) {
    return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
  });
  Value hope = wrapsRarely(frame, seen, *lane, copies);
  Values found = lookAtEnds(frame, load, *lane, copies, hope);
  return readPieces(frame, load, *lane, copies, found);
}

/// Neighbours in one piece, turned round where they fall; gathered else.
Value Emitter::readPieces(Frame &frame, qn::LoadOp load, const Binding &lane,
                          Copies copies, ValueRange found) {
  Location loc = load.getLoc();
  auto vector = VectorType::get({std::int64_t(lane.lanes)}, load.getType());
  Value begin = position(frame, lane.axis, copies);
  auto branch =
      scf::IfOp::create(in(frame), loc, TypeRange{vector}, found[0], true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  Value whole =
      read(yes, found[1], load.getType(), lane.lanes, Value(), Value());
  OpBuilder &b = in(yes);
  Value turned = turnedRound(b, whole);
  whole = arith::SelectOp::create(b, loc, found[2], turned, whole);
  scf::YieldOp::create(b, loc, whole);
  Frame no = Frame::inside(frame, branch.elseBlock());
  no.bind(Binding{.axis = lane.axis, .position = begin, .lanes = lane.lanes});
  Local local;
  Value apart = gathered(no, load, local, copies);
  apart = widen(no, apart, lane.lanes);
  scf::YieldOp::create(in(no), loc, apart);
  frame.anchor = anchor;
  return branch.getResult(0);
}
