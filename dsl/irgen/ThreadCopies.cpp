// `kernel` text: copies of neighbours, and tiles that a warp keeps.
#include "dsl/irgen/Generator.h"

#include "dsl/gpu/Matrix.h"
#include "frontend/typed/MemoryCounts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::Builtin;

/// Whether so many neighbours from `indices` on are in `place`.
mlir::Value Generator::isInside(const Binding &place, ValueRange indices,
                                std::int64_t count) {
  SmallVector<mlir::Value, 4> extents = extentsOf(place);
  mlir::Value all;
  for (auto [number, index] : llvm::enumerate(indices)) {
    mlir::Value extent = extents[number];
    if (number + 1 == indices.size()) {
      mlir::Value less = b.integer(ElementType::I64, count - 1).value;
      mlir::Value zero = b.integer(ElementType::I64, 0).value;
      extent =
          b.create<arith::MaxSIOp>(b.create<arith::SubIOp>(extent, less), zero);
    }
    mlir::Value fits =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, index, extent);
    all = all ? mlir::Value(b.create<arith::AndIOp>(all, fits)) : fits;
  }
  return all;
}

/// Whether a place has the axes that `expression` goes along, those of packs
/// among them.
bool Generator::isGoodPlace(const typed::BuiltinExpression &expression,
                            const typed::LoadExpression &load,
                            ValueRange indices) {
  return holds([&](DiagnosticEngine &diagnostics) {
    return typed::isGoodRank(expression.builtin, indices.size(), load.span,
                             diagnostics);
  });
}

/// With `outside`, what is not wholly inside goes element by element.
irgen::Value Generator::copy(const typed::BuiltinExpression &expression,
                             std::int64_t count) {
  const auto &to = llvm::cast<typed::LoadExpression>(*expression.operands[0]);
  const auto &from = llvm::cast<typed::LoadExpression>(*expression.operands[1]);
  const Binding *target = placeOf(to), *source = placeOf(from);
  if (!target || !source)
    return unsupported(expression.span, "this cannot be copied");
  SmallVector<mlir::Value, 4> toIndices = threadIndices(to);
  SmallVector<Attribute, 4> writtenAt = writtenPlaces(toIndices);
  SmallVector<mlir::Value, 4> fromIndices = threadIndices(from);
  writtenAt.append(writtenPlaces(fromIndices));
  if (!isGoodPlace(expression, to, toIndices) ||
      !isGoodPlace(expression, from, fromIndices))
    return Value();
  Scalar outside =
      from.outside ? coerce(scalar(*from.outside), source->element) : Scalar();
  at(expression.span);
  bool isAsync = expression.builtin == Builtin::CopyAsync;
  auto inFew = [&] {
    auto op = b.create<qn::CopyOp>(
        target->tensor, toIndices, source->tensor, fromIndices,
        static_cast<std::uint64_t>(count), isAsync, readsAreChecked);
    SmallVector<mlir::Value, 4> all(toIndices);
    all.append(fromIndices);
    markIndices(op, all, readsAreChecked, writtenAt);
  };
  if (!outside) {
    inFew();
    return Value();
  }
  auto branch = b.create<scf::IfOp>(
      TypeRange(), isInside(*source, fromIndices, count), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  inFew();
  builder.setInsertionPointToStart(branch.elseBlock());
  for (std::int64_t number = 0; number < count; ++number) {
    auto shifted = [&](SmallVector<mlir::Value, 4> indices) {
      mlir::Value by = b.integer(ElementType::I64, number).value;
      indices.back() = b.create<arith::AddIOp>(indices.back(), by);
      return indices;
    };
    SmallVector<mlir::Value, 4> at = shifted(fromIndices);
    Value read = readGuarded(*source, at, isInside(*source, at, 1), outside);
    emitWrite(*target, shifted(toIndices), read.scalar, readsAreChecked);
  }
  return Value();
}

/// Whether a tile is a `local` array of a thread's share of so many elements.
bool Generator::isWholeTile(const typed::BuiltinExpression &expression,
                            const Expression &named, std::int64_t elements) {
  const Variable &variable =
      *llvm::cast<typed::VariableExpression>(named).variable;
  llvm::StringRef name = variable.name;
  auto own =
      llvm::dyn_cast<MemRefType>(frame->binding(variable).tensor.getType());
  std::int64_t share = elements / request.target.warpSize();
  return holds([&](DiagnosticEngine &diagnostics) {
    bool isLocal = own && own.getMemorySpaceAsInt() == 5;
    if (!isLocal)
      diagnostics.report(named.span, diag::TileNeeded,
                         typed::builtinInfo(expression.builtin).spelling);
    else if (own.getNumElements() != share)
      diagnostics.report(named.span, diag::TileShare, name,
                         own.getNumElements(), share);
    return isLocal && own.getNumElements() == share;
  });
}

/// Where in a tile of so many columns an element of the thread's share lies:
/// its row, its column, or which of the thread's rows it is in.
irgen::Value Generator::tilePlace(const typed::BuiltinExpression &expression) {
  mlir::Value element =
      b.cast(scalar(*expression.operands[1]), ElementType::I64).value;
  auto columns = known(*expression.operands[2]);
  assert(columns && "counts are known when compiling");
  Builtin asked = expression.builtin;
  if (!holds([&](DiagnosticEngine &diagnostics) {
        return typed::isGoodCount(asked, columns->integer,
                                  expression.operands[2]->span, diagnostics);
      }))
    return zeroOf(ElementType::I64);
  at(expression.span);
  mlir::Value lane = b.create<qn::LaneOp>(builder.getI64Type());
  const Binding &tile = frame->binding(
      *llvm::cast<typed::VariableExpression>(*expression.operands[0]).variable);
  TileElement place =
      tileElement(builder, b.location, request.target,
                  storageType(builder.getContext(), tile.element), lane,
                  element, columns->integer);
  return Scalar{ElementType::I64,
                asked == Builtin::TileRow      ? place.row
                : asked == Builtin::TileColumn ? place.column
                                               : place.slot,
                nullptr};
}

irgen::Value Generator::tile(const typed::BuiltinExpression &expression,
                             ArrayRef<std::int64_t> counts) {
  SmallVector<const Binding *, 3> places;
  SmallVector<SmallVector<mlir::Value, 4>, 3> indices;
  for (const Expression *operand : expression.operands) {
    if (const auto *load = llvm::dyn_cast<typed::LoadExpression>(operand)) {
      places.push_back(placeOf(*load));
      indices.push_back(threadIndices(*load));
      if (!isGoodPlace(expression, *load, indices.back()))
        return Value();
    } else if (const auto *name =
                   llvm::dyn_cast<typed::VariableExpression>(operand)) {
      places.push_back(&frame->binding(*name->variable));
      indices.emplace_back();
    }
  }
  at(expression.span);
  // A tile is written first, and read last, by `store_tile`.
  bool isStore = expression.builtin == Builtin::StoreTile;
  if (isStore)
    std::swap(places[0], places[1]), std::swap(indices[0], indices[1]);
  bool isProduct = counts.size() == 3;
  if (!isWholeTile(expression, *expression.operands[isStore],
                   counts[0] * counts[1]))
    return zeroOf(ElementType::I64);
  if (isProduct && indices[1].empty() &&
      !isWholeTile(expression, *expression.operands[1], counts[0] * counts[2]))
    return zeroOf(ElementType::I64);
  auto number = [](std::int64_t count) {
    return static_cast<std::uint64_t>(count);
  };
  if (isProduct)
    b.create<qn::MultiplyTileOp>(
        places[0]->tensor, places[1]->tensor, indices[1], places[2]->tensor,
        indices[2], number(counts[0]), number(counts[1]), number(counts[2]),
        expression.builtin == Builtin::MultiplyTransposed);
  else if (isStore)
    b.create<qn::StoreTileOp>(places[0]->tensor, places[1]->tensor, indices[1],
                              number(counts[0]), number(counts[1]));
  else
    b.create<qn::LoadTileOp>(places[0]->tensor, places[1]->tensor, indices[1],
                             number(counts[0]), number(counts[1]));
  return Value();
}

irgen::Value
Generator::memoryBuiltin(const typed::BuiltinExpression &expression) {
  if (typed::isTilePlace(expression.builtin))
    return tilePlace(expression);
  SmallVector<std::int64_t, 3> counts;
  for (const Expression *operand : expression.operands) {
    if (llvm::isa<typed::LoadExpression>(operand) ||
        (llvm::isa<typed::VariableExpression>(operand) &&
         operand->type->isArray()))
      continue;
    auto value = known(*operand);
    assert(value && "counts are known when compiling");
    if (!holds([&](DiagnosticEngine &diagnostics) {
          return typed::isGoodCount(expression.builtin, value->integer,
                                    operand->span, diagnostics);
        }))
      return zeroOf(ElementType::I64);
    counts.push_back(value->integer);
  }
  at(expression.span);
  switch (expression.builtin) {
  case Builtin::CommitCopies:
    b.create<qn::CommitCopiesOp>();
    return Value();
  case Builtin::AwaitCopies:
    b.create<qn::AwaitCopiesOp>(static_cast<std::uint64_t>(counts[0]));
    return Value();
  case Builtin::Copy:
  case Builtin::CopyAsync:
    return copy(expression, counts[0]);
  default:
    return tile(expression, counts);
  }
}
