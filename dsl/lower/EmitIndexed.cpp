// Loads at computed positions: windows, gathers and constant tables.
#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"
#include "dsl/lower/Held.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Origin.h"
#include "dsl/schedule/StepAlong.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

static Access accessOf(qn::LoadOp load) {
  return {load, cast<BlockArgument>(load.getTensor()), load.getIndices(),
          load.getPart()};
}

/// `0 <= index < extent` as one unsigned comparison.
Value Emitter::inRange(Frame &frame, Value index, Value extent) {
  OpBuilder &b = in(frame);
  return arith::CmpIOp::create(b, index.getLoc(), arith::CmpIPredicate::ult,
                               index, widen(frame, extent, lanesOf(index)));
}

bool quern::isOwnPosition(Value index, StringAttr axis) {
  auto own = index.getDefiningOp<qn::IndexOp>();
  return own && own.getAxisAttr() == axis;
}

Value Emitter::both(Frame &frame, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  in(frame);
  unsigned lanes = std::max(lanesOf(a), lanesOf(b));
  a = widen(frame, a, lanes);
  b = widen(frame, b, lanes);
  return arith::AndIOp::create(builder, a.getLoc(), a, b);
}

/// Where every position is in range; null: everywhere. With `report` a bad one
/// of the lanes that ask, where `when` holds, is an error.
Value Emitter::goodLanes(Frame &frame, const Access &access, ValueRange indices,
                         Value when, bool report) {
  Value good;
  auto type = cast<qn::OperandType>(access.operand.getType());
  for (auto [number, index] : llvm::enumerate(indices)) {
    if (isOwnPosition(access.indices[number], type.getAxes()[number]) ||
        inside.contains({access.op, number}))
      continue;
    Value size = extent(frame, model.axisOf(type.getAxes()[number]));
    // Of a position that is held only an empty axis has none.
    bool held = isHeld(access.indices[number], type.getAxes()[number]);
    Value at = held ? constant(frame, 0) : index;
    Value fits = inRange(frame, at, size);
    if (report)
      this->report(frame,
                   {access.op,
                    sites.of(access.op, number, type.getAxes()[number],
                             ErrorSite::Kind::Index),
                    at, size, when},
                   fits);
    good = both(frame, good, fits);
  }
  return good;
}

std::pair<Value, Value> quern::elementOffset(Emitter &emitter, Frame &frame,
                                             const Access &access,
                                             ValueRange indices) {
  BlockArgument operand = access.operand;
  auto type = cast<qn::OperandType>(operand.getType());
  Location loc = access.op->getLoc();
  Value scalar, vector;
  for (auto [number, index] : llvm::enumerate(indices)) {
    if (type.getStrides()[number] == StrideClass::Zero)
      continue;
    Value offset = index;
    if (type.getStrides()[number] == StrideClass::Dynamic) {
      Value step = emitter.stride(frame, operand, number);
      OpBuilder &b = emitter.in(frame);
      step = emitter.widen(frame, step, lanesOf(index));
      offset = arith::MulIOp::create(b, loc, index, step);
    }
    OpBuilder &b = emitter.in(frame);
    Value &sum = lanesOf(offset) > 1 ? vector : scalar;
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, offset)) : offset;
  }
  return {scalar, vector};
}

Value Emitter::elementPointer(Frame &frame, const Access &access,
                              ValueRange indices) {
  auto type = cast<qn::OperandType>(access.operand.getType());
  Location loc = access.op->getLoc();
  auto [scalar, vector] = elementOffset(*this, frame, access, indices);
  Value pointer = pointerTo(frame, access.operand);
  if (scalar)
    pointer = advance(frame, type, pointer, scalar);
  if (vector && !model.kernel.getWide())
    vector = arith::TruncIOp::create(
        in(frame), loc,
        VectorType::get({std::int64_t(lanesOf(vector))}, builder.getI32Type()),
        vector);
  if (vector)
    pointer = advance(frame, type, pointer, vector);
  return part(frame, type, pointer, access.part);
}

namespace {
/// Steps that are constant. They wrap, as the kernel's numbers do.
struct ConstantStep {
  using Number = std::uint64_t;

  std::uint64_t zero() { return 0; }
  std::uint64_t one() { return 1; }
  std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b; }
  std::uint64_t subtract(std::uint64_t a, std::uint64_t b) { return a - b; }
  std::optional<std::uint64_t> scale(std::uint64_t step, Value by) {
    APInt factor;
    if (!matchPattern(by, m_ConstantInt(&factor)))
      return std::nullopt;
    return step * factor.getSExtValue();
  }
};
} // namespace

std::optional<std::int64_t>
quern::coefficientAlong(const KernelModel &model, Value value, unsigned axis) {
  return StepAlong<ConstantStep>(model, axis, {}).of(value);
}

/// The pointer to the first lane, when the lanes read neighbours; else null.
Value Emitter::neighbours(Frame &frame, const Access &access,
                          const Binding &lane, Copies copies) {
  auto type = cast<qn::OperandType>(access.operand.getType());
  if (isa<ComplexType>(type.getElementType()))
    return Value();
  // Along an expanded axis the lanes read one element.
  bool walks = false;
  for (auto [index, stride] : llvm::zip(access.indices, type.getStrides())) {
    if (index.getParentBlock() != &model.kernel.block())
      return Value();
    auto moves = coefficientAlong(model, index, lane.axis);
    if (!moves || (*moves && stride == StrideClass::Dynamic) ||
        (*moves != 1 && *moves != 0 && stride == StrideClass::One))
      return Value();
    walks |= *moves == 1 && stride == StrideClass::One;
  }
  if (!walks)
    return Value();
  Frame first = Frame::inside(frame, frame.block);
  first.anchor = frame.anchor;
  first.bind(Binding{.axis = lane.axis,
                     .position = position(frame, lane.axis, copies)});
  Values indices = emitAll(first, access.indices, copies);
  return elementPointer(first, access, indices);
}

/// One element, read only where it exists.
Value Emitter::guardedScalar(Frame &frame, qn::LoadOp load, ValueRange indices,
                             Value good, Value otherwise) {
  Value pointer = elementPointer(frame, accessOf(load), indices);
  OpBuilder &b = in(frame);
  if (!good)
    return read(frame, pointer, load.getType(), 1, Value(), Value());
  if (!otherwise)
    otherwise = arith::ConstantOp::create(b, load.getLoc(),
                                          b.getZeroAttr(load.getType()));
  auto branch = scf::IfOp::create(b, load.getLoc(), TypeRange{load.getType()},
                                  good, true);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  Value value = read(yes, pointer, load.getType(), 1, Value(), Value());
  scf::YieldOp::create(in(yes), load.getLoc(), value);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, load.getLoc(), otherwise);
  return branch.getResult(0);
}

Value Emitter::indexed(Frame &frame, qn::LoadOp load, Local &local,
                       Copies copies) {
  if (Value value = affine(frame, load, copies))
    return value;
  if (looksAtAll(frame, load))
    return gathered(frame, load, local, copies);
  if (Value value = pieced(frame, load, copies))
    return value;
  return gathered(frame, load, local, copies);
}

/// The same pointer for every lane.
static Value spread(OpBuilder &b, Value pointer, unsigned lanes) {
  auto type = VectorType::get({std::int64_t(lanes)}, b.getI64Type());
  Value zero =
      arith::ConstantOp::create(b, pointer.getLoc(), b.getZeroAttr(type));
  return LLVM::GEPOp::create(
      b, pointer.getLoc(),
      VectorType::get({std::int64_t(lanes)}, pointer.getType()), b.getI8Type(),
      pointer, ArrayRef<LLVM::GEPArg>{zero});
}

/// Reads lanes that are neighbours.
Value Emitter::readBeside(Frame &frame, qn::LoadOp load, Value pointer,
                          const Binding &lane, Value good, Value otherwise) {
  if (good && model.readsOnce(load, lane.axis))
    fetchForMasked(frame, pointer);
  return read(frame, pointer, load.getType(), lane.lanes, good, otherwise);
}

/// A load at positions of which nothing is known.
Value Emitter::gathered(Frame &frame, qn::LoadOp load, Local &local,
                        Copies copies) {
  Values indices;
  unsigned lanes = 1;
  for (Value index : load.getIndices()) {
    indices.push_back(operand(frame, index, local, copies));
    lanes = std::max(lanes, lanesOf(indices.back()));
  }
  Value when, otherwise;
  if (load.getWhen())
    when = operand(frame, load.getWhen(), local, copies);
  if (load.getOutside())
    otherwise = operand(frame, load.getOutside(), local, copies);
  for (Value value : {when, otherwise})
    lanes = std::max(lanes, value ? lanesOf(value) : 1);
  // What is checked is read wherever it is: `when` says who asks, and a sum may
  // take the others' elements as well.
  Value good = load.getChecked() ? Value() : when;
  if (load.getOutside() || load.getChecked())
    good = both(
        frame, good,
        goodLanes(frame, accessOf(load), indices, when, load.getChecked()));
  if (lanes == 1)
    return guardedScalar(frame, load, indices, good, otherwise);
  fetchRow(frame, accessOf(load), copies);
  const Binding *lane = laneOf(frame, frame.bound);
  in(frame);
  for (Value *each : {&good, &otherwise})
    *each = *each ? widen(frame, *each, lanes) : Value();
  good = both(frame, good, lane ? lane->mask : Value());
  if (Value pointer =
          lane ? neighbours(frame, accessOf(load), *lane, copies) : Value())
    return readBeside(frame, load, pointer, *lane, good, otherwise);
  auto apart = [&](Frame &at) {
    Value pointer = elementPointer(at, accessOf(load), indices);
    if (lanesOf(pointer) == 1)
      pointer = spread(in(at), pointer, lanes);
    else if (lane && !streaming && model.readsOnce(load, lane->axis))
      fetchForMasked(at, pointer);
    return read(at, pointer, load.getType(), lanes, good, otherwise);
  };
  Value near = lane
                   ? nearby(frame, load, *lane, indices, good, otherwise, apart)
                   : Value();
  if (near)
    return near;
  if (target.isGpu() || !mayBeFew(load))
    return apart(frame);
  return fewOrAll(frame, load, indices, {good, otherwise}, apart);
}

/// Reads a constant table, kept as a global of the module.
Value Emitter::lookupIn(Frame &frame, qn::LookupOp op, Value index) {
  Location loc = op.getLoc();
  Type element = op.getType();
  OpBuilder &b = in(frame);
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  unsigned space = target.isGpu() ? 1 : 0;
  std::string name = tableGlobal(b, model.kernel, op, space);
  Value base = LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), space), name);
  if (space)
    base = LLVM::AddrSpaceCastOp::create(b, loc, pointerType, base);
  unsigned lanes = lanesOf(index);
  if (lanes > 1)
    pointerType = VectorType::get({std::int64_t(lanes)}, pointerType);
  Value pointer = LLVM::GEPOp::create(b, loc, pointerType, element, base,
                                      ArrayRef<LLVM::GEPArg>{index});
  return read(frame, pointer, element, lanes, Value(), Value());
}
