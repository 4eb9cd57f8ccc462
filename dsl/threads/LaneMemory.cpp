// Reads and writes of vectors of threads, and the checks in front of them.
#include "dsl/threads/ThreadEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Strides count halves of complex elements.
void ThreadEmitter::layout(Value place, SmallVectorImpl<Stride> &strides,
                           SmallVectorImpl<Extent> &extents) {
  std::int64_t unit = isa<ComplexType>(elementOf(place)) ? 2 : 1;
  if (auto memory = dyn_cast<MemRefType>(place.getType())) {
    bool isOwn = memory.getMemorySpaceAsInt() == 5;
    std::int64_t stride = unit * (isOwn ? lanes : 1);
    for (std::int64_t extent : llvm::reverse(memory.getShape())) {
      strides.insert(strides.begin(), Stride{stride, {}});
      extents.insert(extents.begin(), Extent{{}, {}, extent});
      stride *= extent;
    }
    return;
  }
  auto argument = cast<BlockArgument>(place);
  auto type = cast<qn::OperandType>(place.getType());
  for (auto [number, axis] : llvm::enumerate(type.getAxes())) {
    Stride stride{type.getStrides()[number] == StrideClass::One ? unit : 0, {}};
    if (type.getStrides()[number] == StrideClass::Dynamic) {
      stride.dynamic =
          words[packet.strideWord(argument.getArgNumber(), number)];
      if (unit > 1)
        stride.dynamic =
            arith::MulIOp::create(b, loc, stride.dynamic, constant(unit));
    }
    strides.push_back(stride);
    extents.push_back({axis.getValue(),
                       words[packet.extentWord(model.kernel.axisNumber(axis))],
                       0});
  }
}

/// Adds `index * stride` to the uniform `sum`, or to what differs by lane.
void ThreadEmitter::addOffset(Address &at, Value &sum, Lanes index,
                              Stride stride) {
  if (!stride.dynamic && stride.fixed == 0)
    return;
  Value factor = stride.dynamic ? stride.dynamic : Value();
  auto times = [&](Value value) -> Value {
    if (!factor && stride.fixed == 1)
      return value;
    Value by = factor ? factor : constant(stride.fixed);
    return arith::MulIOp::create(
        b, loc, value, isa<VectorType>(value.getType()) ? spread(by) : by);
  };
  auto plus = [&](Value &to, Value value) {
    to = to ? Value(arith::AddIOp::create(b, loc, to, value)) : value;
  };
  if (index.vector)
    return plus(at.offsets, times(index.vector));
  plus(sum, times(index.scalar));
  if (index.step == 0)
    return;
  if (!factor) {
    at.step = static_cast<std::int64_t>(static_cast<std::uint64_t>(at.step) +
                                        static_cast<std::uint64_t>(index.step) *
                                            stride.fixed);
    return;
  }
  plus(at.offsets, times(laneNumbers(b.getI64Type(), index.step)));
}

ThreadEmitter::Address
ThreadEmitter::address(Operation *op, Value place, ValueRange indices,
                       bool checked, std::optional<std::uint64_t> part) {
  SmallVector<Stride> strides;
  SmallVector<Extent> extents;
  layout(place, strides, extents);
  Address at;
  at.mask = scope->mask;
  at.element = memoryType(elementOf(place));
  auto memory = dyn_cast<MemRefType>(place.getType());
  bool isOwn = memory && memory.getMemorySpaceAsInt() == 5;
  Value sum;
  for (auto [number, value] : llvm::enumerate(indices)) {
    Lanes index = get(value);
    Extent extent = extents[number];
    if (checked && !model.ranges.isInside(value, extent.axis, extent.fixed, op))
      check(op, at, number, index, extent);
    addOffset(at, sum, index, strides[number]);
  }
  if (isOwn)
    at.step += isa<ComplexType>(memory.getElementType()) ? 2 : 1;
  // Of far steps only some lanes are inside, and the base is not.
  at.isFar = !llvm::isInt<24>(at.step);
  if (at.offsets && at.step) {
    at.offsets = arith::AddIOp::create(b, loc, at.offsets,
                                       laneNumbers(b.getI64Type(), at.step));
    at.step = 0;
  }
  at.base = memory ? arrayBase(place)
                   : words[packet.argumentWord(
                         cast<BlockArgument>(place).getArgNumber())];
  if (part && *part)
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, constant(1)))
              : constant(1);
  if (sum)
    at.base = LLVM::GEPOp::create(b, loc, at.base.getType(), at.element,
                                  at.base, ArrayRef<LLVM::GEPArg>{sum});
  return at;
}

/// Takes lanes out of the access whose index is out of range, and notes one.
void ThreadEmitter::check(Operation *op, Address &at, unsigned dimension,
                          Lanes index, Extent extent) {
  Value size = extent.size ? extent.size : constant(extent.fixed);
  Value fits;
  if (index.isLinear() && index.step == 1) {
    Value negative = lanesBelow(index.scalar, constant(0), false);
    fits = without(lanesBelow(index.scalar, size, false), negative);
  } else if (index.isUniform()) {
    fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                 index.scalar, size);
  } else {
    fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                 vectorOf(index), spread(size));
  }
  StringRef axis = extent.axis;
  report(op, dimension, axis, without(at.mask, fits), index, size);
  if (index.isUniform())
    at.good = both(at.good, fits);
  else
    at.mask = both(at.mask, fits);
}

/// The first error of a task stays: what follows may only follow from it.
void ThreadEmitter::record(std::int64_t site, Value index, Value extent) {
  Value record = words[Packet::errorWord];
  Value known = LLVM::LoadOp::create(b, loc, b.getI64Type(), record, 8);
  Value isFree = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, known,
                                       constant(0));
  guarded(isFree, {}, [&]() -> Value {
    Value parts[] = {constant(site), index, extent};
    for (auto [offset, value] : llvm::enumerate(parts)) {
      Value at = LLVM::GEPOp::create(
          b, loc, record.getType(), b.getI64Type(), record,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
      LLVM::StoreOp::create(b, loc, value, at, 8);
    }
    return {};
  });
}

void ThreadEmitter::report(Operation *op, unsigned dimension, StringRef axis,
                           Value bad, Lanes index, Value extent,
                           ErrorSite::Kind kind) {
  auto branch = scf::IfOp::create(b, loc, anyLane(bad), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value worst = index.scalar;
  if (!index.isUniform() && isa<VectorType>(bad.getType())) {
    Value all = vectorOf(index);
    Value seen = arith::SelectOp::create(b, loc, bad, all, zero(all.getType()));
    worst =
        vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI, seen);
  }
  record(sites.of(op, dimension, axis, kind), worst, extent);
}

/// The value itself, behind a note where the condition does not hold.
Lanes ThreadEmitter::required(qn::RequireOp op) {
  Lanes holds = get(op.getCondition());
  Value mask = scope ? scope->mask : Value();
  Value bad = holds.isUniform() ? holds.scalar : vectorOf(holds);
  Value none = constant(0), extent = op.getExtent();
  bool isIndex = bool(extent);
  report(op, 0, op.getText(), without(mask, bad),
         isIndex ? get(op.getValue()) : Lanes{none, 0, {}},
         isIndex ? get(extent).scalar : none,
         isIndex ? ErrorSite::Kind::Index : ErrorSite::Kind::Required);
  return get(op.getValue());
}

/// One pointer for each lane.
Value ThreadEmitter::pointers(const Address &at) {
  Value offsets =
      at.offsets ? at.offsets : laneNumbers(b.getI64Type(), at.step);
  return LLVM::GEPOp::create(b, loc, wide(at.base.getType()), at.element,
                             at.base, ArrayRef<LLVM::GEPArg>{offsets});
}

static unsigned byteWidth(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

Lanes ThreadEmitter::readAt(Address &at, Type type) {
  bool isUniform = !at.offsets && at.step == 0;
  if (isUniform) {
    // A lane that is out of range elsewhere reads nothing.
    bool isPart = at.mask && at.mask != scope->mask;
    Value good = isPart ? both(at.good, anyLane(at.mask)) : at.good;
    Value raw = guarded(good, at.element, [&]() -> Value {
      return LLVM::LoadOp::create(b, loc, at.element, at.base,
                                  byteWidth(at.element));
    });
    Value value = fromMemory(raw, type);
    if (!isPart)
      return {value, 0, {}};
    Type all = wide(type);
    return {{},
            0,
            arith::SelectOp::create(b, loc, at.mask, spread(value), zero(all))};
  }
  Type vector = wide(at.element);
  Value raw = guarded(at.good, vector, [&]() -> Value {
    if (at.step == 1 && !at.mask)
      return LLVM::LoadOp::create(b, loc, vector, at.base,
                                  byteWidth(at.element));
    if (at.step == 1)
      return LLVM::MaskedLoadOp::create(b, loc, vector, at.base, at.mask,
                                        zero(vector), byteWidth(at.element));
    Value mask = at.mask ? at.mask : spread(constant(1, b.getI1Type()));
    return LLVM::masked_gather::create(b, loc, vector, pointers(at), mask,
                                       zero(vector), byteWidth(at.element));
  });
  return {{}, 0, fromMemory(raw, type)};
}

Lanes ThreadEmitter::read(qn::ReadOp op) {
  Address at = address(op, op.getPlace(), op.getIndices(), op.getChecked(),
                       op.getPart());
  return readAt(at, op.getType());
}

/// A load right behind a masked store waits for it, which one behind a whole
/// store does not: masks are mostly full.
void ThreadEmitter::storeMasked(const Address &at, Value stored) {
  unsigned bytes = byteWidth(at.element);
  Value all =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, at.mask);
  auto branch = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  LLVM::StoreOp::create(b, loc, stored, at.base, bytes);
  b.setInsertionPointToStart(branch.elseBlock());
  LLVM::MaskedStoreOp::create(b, loc, stored, at.base, at.mask, bytes);
}

/// Lanes that write one place do so in their order, so that the last one stays.
void ThreadEmitter::write(qn::WriteOp op) {
  Lanes value = get(op.getValue());
  Address at = address(op, op.getPlace(), op.getIndices(), op.getChecked(),
                       op.getPart());
  unsigned bytes = byteWidth(at.element);
  Type type = op.getValue().getType();
  bool isOne = !at.offsets && at.step == 0;
  if (isOne && value.isUniform()) {
    Value good = at.good;
    if (at.mask && at.mask != scope->mask)
      good = both(good, anyLane(at.mask));
    guarded(good, {}, [&]() -> Value {
      LLVM::StoreOp::create(b, loc, toMemory(value.scalar, type), at.base,
                            bytes);
      return {};
    });
    return;
  }
  Value stored = toMemory(vectorOf(value), type);
  guarded(at.good, {}, [&]() -> Value {
    if (at.step == 1 && !at.mask) {
      LLVM::StoreOp::create(b, loc, stored, at.base, bytes);
    } else if (at.step == 1) {
      storeMasked(at, stored);
    } else {
      Value mask = at.mask ? at.mask : spread(constant(1, b.getI1Type()));
      LLVM::masked_scatter::create(b, loc, stored, pointers(at), mask, bytes);
    }
    return {};
  });
}

/// An element of a constant table.
Lanes ThreadEmitter::lookup(qn::LookupOp op) {
  std::string name = tableGlobal(b, model.kernel, op, 0);
  Lanes index = get(op.getIndex());
  Address at;
  at.element = op.getType();
  at.mask = scope ? scope->mask : Value();
  at.base = LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), name);
  Value sum;
  addOffset(at, sum, index, {1, {}});
  if (sum)
    at.base = LLVM::GEPOp::create(b, loc, at.base.getType(), at.element,
                                  at.base, ArrayRef<LLVM::GEPArg>{sum});
  return readAt(at, op.getType());
}
