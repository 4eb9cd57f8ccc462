// `kernel` text: elements of tensors and arrays, read and written in order.
#include "dsl/irgen/Generator.h"

#include "frontend/typed/MemoryCounts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::Builtin;

/// The tensor or array that is indexed, or null.
const Binding *Generator::placeOf(const typed::LoadExpression &load) {
  const auto *name = llvm::dyn_cast<typed::VariableExpression>(load.base);
  if (!name)
    return nullptr;
  const Binding &binding = frame->binding(*name->variable);
  return binding.kind == Binding::Kind::Tensor ? &binding : nullptr;
}

/// The position along a split dimension as one along each of its parts; what is
/// out of range is so along one of them.
void Generator::splitIndex(mlir::Value index, ArrayRef<AxisId> parts,
                           SmallVectorImpl<mlir::Value> &indices) {
  SmallVector<mlir::Value, 2> inner;
  bool isUnsigned = unsignedPositions.contains(index);
  for (AxisId part : llvm::reverse(parts.drop_front())) {
    mlir::Value one = b.integer(ElementType::I64, 1).value;
    mlir::Value extent =
        b.create<arith::MaxSIOp>(sizeOf(frame->axes[part.index].front()), one);
    inner.push_back(isUnsigned
                        ? b.create<arith::RemUIOp>(index, extent).getResult()
                        : b.create<arith::RemSIOp>(index, extent).getResult());
    index = isUnsigned ? b.create<arith::DivUIOp>(index, extent).getResult()
                       : b.create<arith::DivSIOp>(index, extent).getResult();
  }
  indices.push_back(index);
  indices.append(inner.rbegin(), inner.rend());
}

SmallVector<mlir::Value, 4>
Generator::threadIndices(const typed::LoadExpression &load) {
  SmallVector<mlir::Value, 4> indices;
  ArrayRef<typed::Dimension> dimensions = load.base->type->dimensions;
  for (auto [number, position] : llvm::enumerate(load.positions)) {
    if (position && position->type->pack.valid()) {
      std::size_t rank = frame->axes[position->type->pack.index].size();
      for (const Value &value : evaluateRanks(*position, rank).elements) {
        indices.push_back(toIndex(value.scalar));
        positionPlaces[indices.back()] = rangeOf(position->span);
      }
      continue;
    }
    mlir::Value index = toIndex(scalar(*position));
    std::size_t first = indices.size();
    if (number < dimensions.size() && dimensions[number].isSplit())
      splitIndex(index, dimensions[number].parts, indices);
    else
      indices.push_back(index);
    for (mlir::Value made : llvm::drop_begin(indices, first))
      positionPlaces[made] = rangeOf(position->span);
  }
  return indices;
}

Scalar Generator::emitRead(const Binding &place, ValueRange indices,
                           bool checked) {
  auto read = [&](ElementType type, IntegerAttr part) -> mlir::Value {
    auto op = b.create<qn::ReadOp>(storageType(builder.getContext(), type),
                                   place.tensor, indices, checked, part);
    markIndices(op, indices, checked);
    return op;
  };
  ElementType component = componentOf(place.element);
  if (component == place.element)
    return b.fromStorage(read(component, IntegerAttr()), place.element);
  return {place.element, read(component, builder.getI64IntegerAttr(0)),
          read(component, builder.getI64IntegerAttr(1))};
}

void Generator::emitWrite(const Binding &place, ValueRange indices,
                          Scalar value, bool checked) {
  value = coerce(value, place.element);
  auto write = [&](mlir::Value stored, IntegerAttr part) {
    auto op =
        b.create<qn::WriteOp>(stored, place.tensor, indices, checked, part);
    markIndices(op, indices, checked);
  };
  if (!value.isComplex())
    return write(b.toStorage(value), IntegerAttr());
  write(value.value, builder.getI64IntegerAttr(0));
  write(value.imaginary, builder.getI64IntegerAttr(1));
}

/// Reads where `good` holds, and gives `outside` elsewhere.
irgen::Value Generator::readGuarded(const Binding &place, ValueRange indices,
                                    mlir::Value good, Scalar outside) {
  SmallVector<mlir::Value, 2> missing = flatten({Value(outside)});
  auto branch = b.create<scf::IfOp>(TypeRange(ValueRange(missing)), good, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Scalar read = emitRead(place, indices, /*checked=*/false);
  b.create<scf::YieldOp>(flatten({Value(read)}));
  builder.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(missing);
  return unflatten({Value(read)}, branch.getResults()).front();
}

/// The extents that the positions of `place` must stay below.
SmallVector<mlir::Value, 4> Generator::extentsOf(const Binding &place) {
  SmallVector<mlir::Value, 4> extents;
  if (auto memory = dyn_cast<MemRefType>(place.tensor.getType()))
    for (std::int64_t extent : memory.getShape())
      extents.push_back(b.integer(ElementType::I64, extent).value);
  for (const Place &axis : place.places)
    extents.push_back(b.create<qn::SizeOp>(b.builder.getI64Type(), axis.name));
  return extents;
}

irgen::Value Generator::loadThread(const typed::LoadExpression &load) {
  const Binding &place = *placeOf(load);
  SmallVector<mlir::Value, 4> indices = threadIndices(load);
  Scalar when = load.when ? scalar(*load.when) : Scalar();
  Scalar outside =
      load.outside ? coerce(scalar(*load.outside), place.element) : Scalar();
  at(load.span);
  if (!when && !outside)
    return emitRead(place, indices, readsAreChecked);
  mlir::Value good = when.value;
  for (auto [index, extent] : llvm::zip(indices, extentsOf(place))) {
    mlir::Value fits =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, index, extent);
    good = good ? mlir::Value(b.create<arith::AndIOp>(good, fits)) : fits;
  }
  if (!outside)
    outside = b.integer(place.element, 0);
  return readGuarded(place, indices, good, outside);
}

void Generator::executeStore(const typed::StoreStatement &statement) {
  const Binding *place = placeOf(*statement.place);
  if (!isThreadText() || !place) {
    unsupported(statement.span, "this place cannot be written here");
    return;
  }
  Scalar value = scalar(*statement.value);
  SmallVector<mlir::Value, 4> indices = threadIndices(*statement.place);
  at(statement.span);
  if (statement.op) {
    Scalar old = emitRead(*place, indices, readsAreChecked);
    value =
        arithmetic(*statement.op, old, coerce(value, place->element)).scalar;
  }
  emitWrite(*place, indices, value, readsAreChecked);
}

void Generator::executeStorage(const typed::StorageStatement &statement) {
  const typed::Type &type = *statement.variable->type;
  SmallVector<std::int64_t, 4> extents;
  for (const Expression *extent : type.extents) {
    auto value = known(*extent);
    assert(value && "extents are known when compiling");
    bool isGood = holds([&](DiagnosticEngine &diagnostics) {
      return typed::isGoodExtent(statement.variable->name, value->integer,
                                 extent->span, diagnostics);
    });
    extents.push_back(isGood ? value->integer : 1);
  }
  ElementType element = frame->type(type.scalar);
  bool isGood = holds([&](DiagnosticEngine &diagnostics) {
    return typed::isGoodArray(statement.variable->name, extents,
                              bitsOf(element) / 8, statement.span, diagnostics);
  });
  if (!isGood)
    extents.assign(extents.size(), 1);
  auto memory = [&](unsigned space) {
    return MemRefType::get(extents, storageType(builder.getContext(), element),
                           MemRefLayoutAttrInterface(),
                           builder.getI64IntegerAttr(space));
  };
  Binding &binding = frame->binding(*statement.variable);
  binding.kind = Binding::Kind::Tensor;
  binding.element = element;
  if (statement.isShared)
    binding.tensor = b.create<qn::SharedOp>(memory(3));
  else
    binding.tensor = b.create<qn::LocalOp>(memory(5));
}

/// The operation on elements of a type, by the kind of number it is.
static qn::AtomicKind kindFor(Builtin builtin, Scalar value) {
  using Kind = qn::AtomicKind;
  switch (builtin) {
  case Builtin::AtomicAdd:
    return value.isFloat() ? Kind::addf : Kind::addi;
  case Builtin::AtomicMin:
    return value.isFloat()    ? Kind::minf
           : value.isSigned() ? Kind::mins
                              : Kind::minu;
  case Builtin::AtomicMax:
    return value.isFloat()    ? Kind::maxf
           : value.isSigned() ? Kind::maxs
                              : Kind::maxu;
  case Builtin::AtomicAnd:
    return Kind::andi;
  case Builtin::AtomicOr:
    return Kind::ori;
  case Builtin::AtomicXor:
    return Kind::xori;
  case Builtin::AtomicCas:
    return Kind::cas;
  default:
    return Kind::exchange;
  }
}

/// `atomic_cas(place, expected, value)`.
irgen::Value Generator::atomic(const typed::BuiltinExpression &expression) {
  const auto &load =
      llvm::cast<typed::LoadExpression>(*expression.operands.front());
  const Binding *place = placeOf(load);
  if (!place)
    return unsupported(expression.span, "this place cannot be written here");
  bool isGood = holds([&](DiagnosticEngine &diagnostics) {
    bool isReal = componentOf(place->element) == place->element;
    if (!isReal)
      diagnostics.report(expression.span, diag::OperatorConstraint,
                         typed::builtinInfo(expression.builtin).spelling,
                         spelling(place->element));
    return isReal;
  });
  if (!isGood)
    return zeroOf(place->element);
  SmallVector<mlir::Value, 4> indices = threadIndices(load);
  SmallVector<Scalar, 2> values;
  for (const Expression *operand : expression.operands.drop_front())
    values.push_back(coerce(scalar(*operand), place->element));
  at(expression.span);
  qn::AtomicKind kind = kindFor(expression.builtin, values.back());
  bool isShared = llvm::isa<MemRefType>(place->tensor.getType());
  mlir::Value expected =
      values.size() > 1 ? b.toStorage(values.front()) : mlir::Value();
  mlir::Value stored = b.toStorage(values.back());
  assert(values.back().isFloat() == llvm::isa<FloatType>(stored.getType()) &&
         "floats are stored as floats");
  auto order =
      expression.atomic.order
          ? *qn::symbolizeOrder(typed::spelling(*expression.atomic.order))
          : qn::Order::relaxed;
  auto scope =
      expression.atomic.scope
          ? *qn::symbolizeScope(typed::spelling(*expression.atomic.scope))
      : isShared ? qn::Scope::block
                 : qn::Scope::device;
  auto old = b.create<qn::AtomicOp>(stored.getType(), kind, stored, expected,
                                    place->tensor, indices, readsAreChecked,
                                    order, scope);
  markIndices(old, indices, readsAreChecked);
  return b.fromStorage(old, place->element);
}
