// Loads and stores at an operand's own axes.
#include "dsl/lower/Emitter.h"
#include "dsl/lower/InMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// What an element is in memory; a complex one is read by its halves.
static Type vectorOf(Type element, unsigned lanes) {
  return lanes == 1 ? element : VectorType::get({std::int64_t(lanes)}, element);
}

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

Value Emitter::stride(Frame &frame, BlockArgument operand, unsigned axis) {
  if (model.kernel.isStaged(operand))
    return stagedStride(frame, operand, axis);
  // Only strides that are known at run time have a word.
  auto type = cast<qn::OperandType>(operand.getType());
  StrideClass known = type.getStrides()[axis];
  if (known != StrideClass::Dynamic)
    return constant(frame, known == StrideClass::One ? 1 : 0);
  return word(frame, packet.strideWord(operand.getArgNumber(), axis),
              builder.getI64Type());
}

/// `pointer + offset` elements; a complex element is two of its halves.
Value Emitter::advance(Frame &frame, qn::OperandType type, Value pointer,
                       Value offset) {
  Type element = memoryType(type.getElementType());
  if (isa<ComplexType>(type.getElementType()))
    element = LLVM::LLVMArrayType::get(element, 2);
  OpBuilder &b = in(frame);
  Type result = LLVM::LLVMPointerType::get(b.getContext());
  result = vectorOf(result, std::max(lanesOf(pointer), lanesOf(offset)));
  return LLVM::GEPOp::create(b, pointer.getLoc(), result, element, pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value Emitter::part(Frame &frame, qn::OperandType type, Value pointer,
                    std::optional<std::uint64_t> part) {
  if (!part || *part == 0)
    return pointer;
  OpBuilder &b = in(frame);
  return LLVM::GEPOp::create(b, pointer.getLoc(), pointer.getType(),
                             memoryType(type.getElementType()), pointer,
                             ArrayRef<LLVM::GEPArg>{1});
}

/// Where the element at the positions of `axes` lies, the lane axis at its
/// first lane. Every frame adds what it binds, so that outer parts are made
/// once.
Value Emitter::address(Frame &from, BlockArgument operand, AxisSet axes,
                       Copies copies) {
  if (!axes)
    return pointerTo(from, operand);
  Frame &frame = home(from, axes);
  copies = project(frame, axes, copies);
  auto key = std::make_tuple(operand.getAsOpaquePointer(), copies, axes);
  if (Value found = frame.addresses.lookup(key))
    return found;
  AxisSet outer =
      frame.parent ? axes & frame.parent->bound & ~frame.rebound : AxisSet();
  Value pointer = address(frame, operand, outer, copies);
  auto type = cast<qn::OperandType>(operand.getType());
  for (auto [number, name] : llvm::enumerate(type.getAxes())) {
    unsigned axis = model.axisOf(name);
    if (!hasAxis(axes & ~outer, axis))
      continue;
    Value offset = position(frame, axis, copies);
    if (Value log = grouped.lookup(axis))
      offset = arith::ShLIOp::create(in(frame), operand.getLoc(), offset, log);
    Value step = type.getStrides()[number] == StrideClass::Dynamic
                     ? stride(frame, operand, number)
                     : Value();
    if (target.isGpu() && !model.kernel.getWide())
      offset = shortOffset(frame, offset, step);
    else if (step)
      offset = arith::MulIOp::create(in(frame), operand.getLoc(), offset, step);
    pointer = advance(frame, type, pointer, offset);
  }
  frame.addresses[key] = pointer;
  return pointer;
}

const Binding *Emitter::laneOf(const Frame &frame, AxisSet axes) const {
  for (const Binding &binding : llvm::reverse(frame.bindings))
    if (hasAxis(axes, binding.axis) && frame.find(binding.axis)->lanes > 1)
      return frame.find(binding.axis);
  return nullptr;
}

/// One pointer for every lane, for strided operands.
Value Emitter::lanePointers(Frame &frame, BlockArgument operand, Value pointer,
                            const Binding &lane) {
  auto type = cast<qn::OperandType>(operand.getType());
  auto numbers = llvm::to_vector(llvm::seq<std::int64_t>(0, lane.lanes));
  OpBuilder &b = in(frame);
  Location loc = operand.getLoc();
  auto wideType = VectorType::get({std::int64_t(lane.lanes)}, b.getI64Type());
  Value steps = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(wideType, ArrayRef(numbers)));
  for (auto [number, name] : llvm::enumerate(type.getAxes())) {
    if (model.axisOf(name) != lane.axis ||
        type.getStrides()[number] != StrideClass::Dynamic)
      continue;
    Value step = stride(frame, operand, number);
    step = widen(frame, step, lane.lanes);
    steps = arith::MulIOp::create(b, loc, steps, step);
  }
  if (!model.kernel.getWide())
    steps = arith::TruncIOp::create(
        in(frame), loc,
        VectorType::get({std::int64_t(lane.lanes)}, b.getI32Type()), steps);
  return advance(frame, type, pointer, steps);
}

/// Whether elements are gathered by the words they lie in: a machine that reads
/// and writes by masks gathers words.
static bool gathersByWords(const TargetInfo &target, Type memory,
                           unsigned lanes) {
  return target.hasMask && !target.isGpu() && lanes >= 8 &&
         memory.getIntOrFloatBitWidth() <= 16;
}

/// Whether a launch's operands may exceed the caches: it stores past them, or
/// reduces parts of an axis.
static bool readsFar(const Emitter &emitter) {
  return emitter.streaming || emitter.launch->kind == LaunchKind::Partials;
}

/// Lanes of places apart, one after the other: processors foresee what such
/// reads read next, which they do not of a gather. Lanes that are not good read
/// `nowhere`, and have what is given for them.
static Value readEach(OpBuilder &b, VectorType type, Value pointers, Value good,
                      Value otherwise, Value nowhere, unsigned alignment) {
  Location loc = pointers.getLoc();
  if (good) {
    Value none =
        vector::BroadcastOp::create(b, loc, pointers.getType(), nowhere);
    pointers = arith::SelectOp::create(b, loc, good, pointers, none);
  }
  Value made = LLVM::PoisonOp::create(b, loc, type);
  for (std::int64_t lane = 0; lane != type.getNumElements(); ++lane) {
    Value number = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(lane));
    Value pointer = LLVM::ExtractElementOp::create(b, loc, pointers, number);
    Value element =
        LLVM::LoadOp::create(b, loc, type.getElementType(), pointer, alignment);
    made = LLVM::InsertElementOp::create(b, loc, made, element, number);
  }
  if (good && otherwise)
    made = arith::SelectOp::create(b, loc, good, made, otherwise);
  return made;
}

Value Emitter::read(Frame &frame, Value pointer, Type element, unsigned lanes,
                    Value mask, Value otherwise, bool aligned) {
  Type memory = memoryType(element);
  Type type = vectorOf(memory, lanes);
  unsigned alignment = memory.getIntOrFloatBitWidth() / 8;
  if (aligned)
    alignment *= lanes;
  OpBuilder &b = in(frame);
  Location loc = pointer.getLoc();
  if (otherwise)
    otherwise = toMemory(frame, otherwise, element);
  bool scattered = lanesOf(pointer) > 1;
  bool byWords = scattered && gathersByWords(target, memory, lanes);
  bool byLane = scattered && !byWords && !target.isGpu() && readsFar(*this);
  if (scattered && !byLane && !mask)
    mask = arith::ConstantOp::create(
        b, loc,
        b.getOneAttr(VectorType::get({std::int64_t(lanes)}, b.getI1Type())));
  if (mask && !otherwise && !byWords)
    otherwise = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value raw;
  if (byLane)
    raw = readEach(b, cast<VectorType>(type), pointer, mask, otherwise,
                   packetPointer, alignment);
  else if (byWords)
    raw = gatherSmall(b, loc, cast<VectorType>(type), pointer, mask, otherwise);
  else if (scattered)
    raw = LLVM::masked_gather::create(b, loc, type, pointer, mask, otherwise,
                                      alignment);
  else if (mask)
    raw = LLVM::MaskedLoadOp::create(b, loc, type, pointer, mask, otherwise,
                                     alignment);
  else
    raw = LLVM::LoadOp::create(b, loc, type, pointer, alignment);
  return fromMemory(frame, raw, element);
}

void Emitter::write(Frame &frame, Value pointer, Value value, Type element,
                    Value mask, bool aligned) {
  value = toMemory(frame, value, element);
  unsigned lanes = lanesOf(value);
  unsigned alignment = memoryType(element).getIntOrFloatBitWidth() / 8;
  OpBuilder &b = in(frame);
  Location loc = pointer.getLoc();
  bool scattered = lanesOf(pointer) > 1;
  if (scattered && !mask)
    mask = arith::ConstantOp::create(
        b, loc,
        b.getOneAttr(VectorType::get({std::int64_t(lanes)}, b.getI1Type())));
  if (scattered)
    LLVM::masked_scatter::create(b, loc, value, pointer, mask, alignment);
  else if (mask)
    LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask, alignment);
  else if (unsigned bytes = lanes * alignment; streaming && lanes > 1)
    LLVM::StoreOp::create(b, loc, value, pointer, bytes, /*isVolatile=*/false,
                          /*isNonTemporal=*/true);
  else if (!aligned || !team || !storePast(frame, pointer, value))
    LLVM::StoreOp::create(b, loc, value, pointer,
                          aligned ? lanes * alignment : alignment);
}

Value Emitter::fromMemory(Frame &frame, Value raw, Type element) {
  return quern::fromMemory(in(frame), raw.getLoc(), raw, element);
}

Value Emitter::toMemory(Frame &frame, Value value, Type element) {
  return quern::toMemory(in(frame), value.getLoc(), value, element);
}

Value Emitter::load(Frame &frame, qn::LoadOp load, Local &local,
                    Copies copies) {
  if (!load.getIndices().empty())
    return indexed(frame, load, local, copies);
  if (Value value = loadTurned(frame, load, copies))
    return value;
  return loadOwn(frame, cast<BlockArgument>(load.getTensor()), load.getPart(),
                 load.getType(), copies);
}

/// Whether vectors of an operand are as aligned as those of rows. Where these
/// begin anywhere in a vector, an operand that all of them share does not.
static bool isLikeRows(const Emitter &emitter, AxisSet axes) {
  return !emitter.team || !emitter.team->kept.phaseOf ||
         (axes & emitter.launch->parallel);
}

/// The element of an operand at its own axes.
Value Emitter::loadOwn(Frame &frame, BlockArgument operand,
                       std::optional<std::uint64_t> half, Type element,
                       Copies copies) {
  auto type = cast<qn::OperandType>(operand.getType());
  AxisSet axes = model.axesOf(type);
  Value pointer = address(frame, operand, axes, copies);
  Frame &at = home(frame, axes);
  const Binding *lane = laneOf(at, axes);
  if (half && liesPaired(at, operand))
    return whereThere(at, [&](Frame &there) {
      return halfOfPairs(there, pointer, element, *lane, *half);
    });
  pointer = part(at, type, pointer, half);
  bool near = !lane || strideAlong(type, lane->axis) == StrideClass::One;
  if (!near)
    pointer = lanePointers(at, operand, pointer, *lane);
  else if (lane && lane->mask && axes != axisBit(lane->axis))
    fetchOwn(at, operand, pointer);
  return whereThere(at, [&](Frame &there) {
    return read(there, pointer, element, lane ? lane->lanes : 1,
                lane ? lane->mask : Value(), Value(),
                lane && near && aligned && isLikeRows(*this, axes));
  });
}

/// What `body` reads, or zero in a frame whose element is not there.
Value Emitter::whereThere(Frame &frame,
                          llvm::function_ref<Value(Frame &)> body) {
  if (!frame.guards)
    return body(frame);
  Value made;
  auto reads = [&](OpBuilder &b, Location loc) {
    Frame inside = Frame::inside(frame, b.getInsertionBlock());
    made = body(inside);
    scf::YieldOp::create(in(inside), loc, made);
  };
  auto zero = [&](OpBuilder &b, Location loc) {
    Value none =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(made.getType()));
    scf::YieldOp::create(b, loc, none);
  };
  return scf::IfOp::create(in(frame), model.kernel.getLoc(), frame.inRange,
                           reads, zero)
      .getResult(0);
}

/// How an operand moves along an axis; two halves apart is not neighbouring.
StrideClass Emitter::strideAlong(qn::OperandType type, unsigned axis) const {
  if (isa<ComplexType>(type.getElementType()))
    return StrideClass::Dynamic;
  for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
    if (model.axisOf(name) == axis)
      return stride;
  return StrideClass::Zero;
}

void Emitter::store(Frame &frame, qn::StoreOp op, Value stored, Copies copies) {
  if (storeBeside(frame, op, stored, copies))
    return;
  auto operand = cast<BlockArgument>(op.getTensor());
  qn::OperandType type = op.getTensor().getType();
  AxisSet axes = model.axesOf(type);
  const Binding *lane = laneOf(frame, axes);
  Value value = wide(frame, stored, copies, lane ? lane->lanes : 1);
  Value pointer = address(frame, operand, axes, copies);
  pointer = part(frame, type, pointer, op.getPart());
  bool near = lane && strideAlong(type, lane->axis) == StrideClass::One;
  if (lane && !near)
    pointer = lanePointers(frame, operand, pointer, *lane);
  else if (lane && lane->mask && axes != axisBit(lane->axis))
    fetchOwn(frame, operand, pointer);
  write(frame, pointer, value, stored.getType(), lane ? lane->mask : Value(),
        near && aligned && isLikeRows(*this, axes));
}

void Emitter::emitStores(Frame &frame, ArrayRef<qn::StoreOp> stores) {
  AxisSet bound = frame.bound;
  SmallVector<Copies> copies = copiesOf(frame, bound);
  fetchLines(frame);
  for (qn::StoreOp op : stores)
    for (Copies copy : copies)
      wide(frame, op.getValue(), copy, 1);
  if (!team || team->size == 1 || isOneThread(frame))
    return storeAll(frame, stores);
  auto branch =
      scf::IfOp::create(in(frame), model.kernel.getLoc(), team->isFirst, false);
  Frame inside = Frame::inside(frame, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  Operation *anchor = std::exchange(frame.anchor, branch);
  storeAll(inside, stores);
  frame.anchor = anchor;
}

/// The store of the other half of the same complex elements, or null.
static qn::StoreOp otherHalf(qn::StoreOp op, ArrayRef<qn::StoreOp> stores) {
  for (qn::StoreOp other : stores)
    if (op.getPart() && other != op && other.getTensor() == op.getTensor())
      return other;
  return qn::StoreOp();
}

void Emitter::storeAll(Frame &frame, ArrayRef<qn::StoreOp> stores) {
  for (qn::StoreOp op : stores) {
    qn::StoreOp other = otherHalf(op, stores);
    bool pairs =
        other && liesPaired(frame, cast<BlockArgument>(op.getTensor()));
    if (pairs && other->isBeforeInBlock(op))
      continue;
    for (Copies copy : copiesOf(frame, model.axesOf(op.getTensor().getType())))
      if (pairs)
        storePairs(frame, op, other, copy);
      else
        store(frame, op, op.getValue(), copy);
  }
}

Value Emitter::lookup(Frame &frame, qn::LookupOp op, Local &local,
                      Copies copies) {
  Value index = local.lookup(op.getIndex());
  if (!index)
    index = emit(frame, op.getIndex(), copies);
  return lookupIn(frame, op, index);
}

Value Emitter::slot(Frame &frame, Value number, unsigned offset) {
  Type type = LLVM::LLVMPointerType::get(builder.getContext());
  Value base = word(frame, Packet::workspaceWord, type);
  OpBuilder &b = in(frame);
  Location loc = base.getLoc();
  base = LLVM::GEPOp::create(b, loc, type, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::GEPOp::create(b, loc, type, b.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{number});
}

Value Emitter::readSlot(Frame &frame, Value slot, Type type) {
  return read(frame, slot, type, 1, Value(), Value());
}

void Emitter::writeSlot(Frame &frame, Value slot, Value value) {
  write(frame, slot, value, value.getType(), Value());
}
