// Reads, writes and atomic operations of a thread, and the checks in front.
#include "dsl/gpu/GridEmitter.h"
#include "dsl/threads/AtomicUpdate.h"

using namespace mlir;
using namespace quern;

static unsigned byteWidth(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

/// 32 bits, which is what a GPU multiplies fast, unless an operand is larger.
Type GridEmitter::offsetType(Value of) const {
  bool isShort = isa<MemRefType>(of.getType()) || !model.kernel.getWide();
  return isShort ? Type(b.getI32Type()) : Type(b.getI64Type());
}

/// In elements as they lie in memory.
GridEmitter::Values GridEmitter::stridesOf(Value of) {
  std::int64_t unit = isa<ComplexType>(elementOf(of)) ? 2 : 1;
  Type type = offsetType(of);
  Values strides;
  if (auto memory = dyn_cast<MemRefType>(of.getType())) {
    std::int64_t stride = unit;
    for (std::int64_t extent : llvm::reverse(memory.getShape())) {
      strides.insert(strides.begin(), constant(stride, type));
      stride *= extent;
    }
    return strides;
  }
  auto operand = cast<qn::OperandType>(of.getType());
  unsigned argument = cast<BlockArgument>(of).getArgNumber();
  for (auto [number, kind] : llvm::enumerate(operand.getStrides())) {
    Value stride = constant(kind == StrideClass::One ? unit : 0, type);
    if (kind == StrideClass::Dynamic) {
      stride = words[packet.strideWord(argument, number)];
      if (type != stride.getType())
        stride = arith::TruncIOp::create(b, loc, type, stride);
      stride = arith::MulIOp::create(b, loc, stride, constant(unit, type));
    }
    strides.push_back(stride);
  }
  return strides;
}

/// The sum of indices times strides.
Value GridEmitter::offsetOf(Value of, ValueRange indices,
                            std::optional<std::uint64_t> part) {
  Type type = offsetType(of);
  Value sum = constant(part.value_or(0), type);
  for (auto [index, stride] : llvm::zip(indices, stridesOf(of))) {
    Value at = get(index);
    if (at.getType() != type)
      at = arith::TruncIOp::create(b, loc, type, at);
    Value offset = arith::MulIOp::create(b, loc, at, stride);
    sum = arith::AddIOp::create(b, loc, sum, offset);
  }
  return sum;
}

/// Whether an index is in range, and a record of it if not.
Value GridEmitter::inRange(Operation *op, Value of, unsigned dimension,
                           Value index) {
  StringRef axis;
  std::int64_t fixed = 0;
  if (auto memory = dyn_cast<MemRefType>(of.getType()))
    fixed = memory.getDimSize(dimension);
  else
    axis = cast<qn::OperandType>(of.getType()).getAxes()[dimension].getValue();
  if (model.ranges.isInside(index, axis, fixed, op))
    return {};
  Value extent = axis.empty()
                     ? constant(fixed)
                     : words[packet.extentWord(model.kernel.axisNumber(axis))];
  Value at = get(index);
  Value bad =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, at, extent);
  guarded(bad, {}, [&]() -> Value {
    record(sites.of(op, dimension, axis, ErrorSite::Kind::Index), at, extent);
    return {};
  });
  return arith::XOrIOp::create(b, loc, bad, constant(1, b.getI1Type()));
}

void GridEmitter::record(std::int64_t site, Value index, Value extent) {
  Value parts[] = {constant(site), index, extent};
  claimError(b, words[Packet::errorWord], parts);
}

/// The value itself, behind a note where the condition does not hold.
Value GridEmitter::required(qn::RequireOp op) {
  Value fails = arith::XOrIOp::create(b, loc, get(op.getCondition()),
                                      constant(1, b.getI1Type()));
  guarded(fails, {}, [&]() -> Value {
    bool isIndex = bool(op.getExtent());
    record(
        sites.of(op, 0, op.getText(),
                 isIndex ? ErrorSite::Kind::Index : ErrorSite::Kind::Required),
        isIndex ? get(op.getValue()) : constant(0),
        isIndex ? get(op.getExtent()) : constant(0));
    return {};
  });
  return get(op.getValue());
}

GridEmitter::Place GridEmitter::place(Operation *op, Value of,
                                      ValueRange indices, bool checked,
                                      std::optional<std::uint64_t> part) {
  Place at;
  at.element = memoryType(elementOf(of));
  for (auto [dimension, index] : llvm::enumerate(indices))
    if (Value fits = checked ? inRange(op, of, dimension, index) : Value())
      at.good =
          at.good ? Value(arith::AndIOp::create(b, loc, at.good, fits)) : fits;
  Value base = get(of);
  at.pointer =
      LLVM::GEPOp::create(b, loc, base.getType(), at.element, base,
                          ArrayRef<LLVM::GEPArg>{offsetOf(of, indices, part)});
  return at;
}

Value GridEmitter::read(qn::ReadOp op) {
  Place at =
      place(op, op.getPlace(), op.getIndices(), op.getChecked(), op.getPart());
  Value raw = guarded(at.good, at.element, [&]() -> Value {
    return LLVM::LoadOp::create(b, loc, at.element, at.pointer,
                                byteWidth(at.element));
  });
  return fromMemory(b, loc, raw, op.getType());
}

void GridEmitter::write(qn::WriteOp op) {
  Place at =
      place(op, op.getPlace(), op.getIndices(), op.getChecked(), op.getPart());
  Value stored = toMemory(b, loc, get(op.getValue()), op.getValue().getType());
  guarded(at.good, {}, [&]() -> Value {
    LLVM::StoreOp::create(b, loc, stored, at.pointer, byteWidth(at.element));
    return {};
  });
}

/// What a block shares is seen by the block alone.
Value GridEmitter::atomic(qn::AtomicOp op) {
  Place at = place(op, op.getPlace(), op.getIndices(), op.getChecked(), {});
  Type type = op.getValue().getType();
  qn::Scope scope = op.getScope();
  if (isa<MemRefType>(op.getPlace().getType()) && scope != qn::Scope::warp)
    scope = qn::Scope::block;
  Value old = guarded(at.good, at.element, [&]() -> Value {
    Value expected = op.getExpected()
                         ? toMemory(b, loc, get(op.getExpected()), type)
                         : Value();
    return atomicUpdate(
        b, loc, op, at.pointer, toMemory(b, loc, get(op.getValue()), type),
        expected, device.scopeName(scope),
        {.hasFloatAdd = true, .isPlain = target.kind == TargetKind::Nvptx});
  });
  return fromMemory(b, loc, old, type);
}
