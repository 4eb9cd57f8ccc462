// Tiles of a warp, and on a CPU copies, as reads and writes of each thread.
#include "dsl/threads/Tiles.h"

#include "dsl/gpu/Matrix.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/LoopHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir;
using namespace quern;

bool quern::isMatrixProduct(qn::MultiplyTileOp op, const TargetInfo &target) {
  Type factor = elementOf(op.getLeft());
  Type sum = elementOf(op.getSums());
  return target.isGpu() && hasMatrices(target, factor) &&
         (factor.isF64() ? sum.isF64() : sum.isF32());
}

namespace {

class Expander {
public:
  Expander(qn::KernelOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target), b(kernel.getContext()) {}

  void copy(qn::CopyOp op);
  void load(qn::LoadTileOp op);
  void store(qn::StoreTileOp op);
  bool widened(qn::MultiplyTileOp op);
  void multiply(qn::MultiplyTileOp op);

private:
  using Values = SmallVector<Value>;
  /// Where a thread's element lies in a tile: a number, and the lane's part.
  struct Position {
    std::int64_t row, column;
  };
  /// A part of a tile, which text is made for: the whole one, or what a loop
  /// comes to next.
  struct Part {
    std::int64_t rows, columns;
    Value row, column; ///< where it begins; null: 0
    Value first;       ///< the number of its first element; null: 0
  };
  void begin(Operation *op, Value tile);
  Position position(std::int64_t element, std::int64_t columns) const;
  std::int64_t elements(const Part &part) const {
    return part.rows * part.columns / target.warpSize();
  }
  Value number(const Part &part, std::int64_t element, std::int64_t columns);
  Value rowOf(const Part &part, Position at);
  Value columnOf(const Part &part, Position at);
  void inParts(std::int64_t rows, std::int64_t columns, bool guarded,
               llvm::function_ref<void(const Part &)> body);
  Value constant(std::int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value plus(Value a, Value other) {
    return other ? Value(arith::AddIOp::create(b, loc, a, other)) : a;
  }
  Value plus(Value a, std::int64_t other) {
    return other ? plus(a, constant(other)) : a;
  }
  Value extent(Value place, unsigned dimension);
  Value isInside(Value place, ValueRange indices, std::int64_t rows,
                 std::int64_t columns);
  Value read(Value place, ValueRange indices, bool guarded);
  Value cast(Value value, Type type);
  Type sumType(qn::MultiplyTileOp op);
  Value share(Value tile, Value number);
  void keep(Value value, Value tile, Value number);
  Values from(ValueRange indices, Value row, Value column);
  void parted(Value whole, llvm::function_ref<void(bool)> body);
  template <typename Op>
  void each(Op op, llvm::function_ref<void(Value, Values, bool)> body);
  Values productStep(qn::MultiplyTileOp op, const Part &part, Value step,
                     ValueRange sums, bool guarded);
  Value fromTile(qn::MultiplyTileOp op, Value row, Position at, Value step);
  void multiplyPart(qn::MultiplyTileOp op, const Part &part, bool guarded);

  qn::KernelOp kernel;
  const TargetInfo &target;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
  MatrixLayout layout;
  Value laneRow, laneColumn; ///< null: 0
};

} // namespace

/// On a GPU the lanes hold what a matrix instruction gives them; on a CPU they
/// are neighbours in a row.
void Expander::begin(Operation *op, Value tile) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  Value lane = qn::LaneOp::create(b, loc, b.getI64Type());
  laneRow = Value();
  laneColumn = lane;
  if (!target.isGpu())
    return;
  layout = tileLayout(target, elementOf(tile));
  TilePlace own = tileLane(b, loc, layout, lane);
  laneRow = own.row;
  laneColumn = own.column;
}

Expander::Position Expander::position(std::int64_t element,
                                      std::int64_t columns) const {
  if (!target.isGpu()) {
    std::int64_t first = element * target.warpSize();
    return {first / columns, first % columns};
  }
  std::int64_t count = layout.sums.size(), part = element / count;
  MatrixLayout::Place own = layout.sums[element % count];
  std::int64_t parts = columns / matrixSize;
  return {matrixSize * (part / parts) + own.first,
          matrixSize * (part % parts) + own.second};
}

/// Which of the thread's elements of a tile of `columns` a part's one is.
Value Expander::number(const Part &part, std::int64_t element,
                       std::int64_t columns) {
  if (!part.first)
    return constant(element);
  Position at = position(element, part.columns);
  return plus(part.first, (at.row * columns + at.column) / target.warpSize());
}

Value Expander::rowOf(const Part &part, Position at) {
  return plus(plus(constant(at.row), laneRow), part.row);
}

Value Expander::columnOf(const Part &part, Position at) {
  return plus(plus(constant(at.column), laneColumn), part.column);
}

/// A tile of more elements than registers hold lies in memory on a CPU, and is
/// gone through in parts that do not: the text does not grow with the tile.
void Expander::inParts(std::int64_t rows, std::int64_t columns, bool guarded,
                       llvm::function_ref<void(const Part &)> body) {
  constexpr std::int64_t most = 16;
  std::int64_t warp = target.warpSize(), across = columns / warp;
  if (target.isGpu() || rows * across <= most)
    return body({rows, columns, {}, {}, {}});
  std::int64_t wide = across % 4 == 0 ? 4 : across % 2 == 0 ? 2 : 1;
  Part part = {matrixSize / wide, wide * warp, {}, {}, {}};
  auto steps = [&](std::int64_t extent, std::int64_t step) {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(extent),
                                   constant(step));
    if (guarded)
      neverUnroll(loop);
    b.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  OpBuilder::InsertionGuard guard(b);
  part.row = steps(rows, part.rows);
  part.column = steps(columns, part.columns);
  Value before = arith::MulIOp::create(b, loc, part.row, constant(across));
  part.first =
      plus(before,
           Value(arith::DivUIOp::create(b, loc, part.column, constant(warp))));
  body(part);
}

Value Expander::extent(Value place, unsigned dimension) {
  if (auto memory = dyn_cast<MemRefType>(place.getType()))
    return constant(memory.getDimSize(dimension));
  auto operand = llvm::cast<qn::OperandType>(place.getType());
  return qn::SizeOp::create(b, loc, b.getI64Type(),
                            operand.getAxes()[dimension]);
}

/// Whether so many rows and columns from `indices` on are there.
Value Expander::isInside(Value place, ValueRange indices, std::int64_t rows,
                         std::int64_t columns) {
  Value all;
  unsigned rank = indices.size();
  for (auto [number, index] : llvm::enumerate(indices)) {
    std::int64_t count = number + 2 == rank   ? rows
                         : number + 1 == rank ? columns
                                              : 1;
    Value limit = extent(place, number);
    if (count > 1)
      limit =
          arith::MaxSIOp::create(b, loc, plus(limit, 1 - count), constant(0));
    Value fits =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, limit);
    all = all ? Value(arith::AndIOp::create(b, loc, all, fits)) : fits;
  }
  return all;
}

/// An element; zero where it is not there.
Value Expander::read(Value place, ValueRange indices, bool guarded) {
  Type type = elementOf(place);
  auto plain = [&]() -> Value {
    return qn::ReadOp::create(b, loc, type, place, indices, false,
                              IntegerAttr());
  };
  if (!guarded)
    return plain();
  auto branch =
      scf::IfOp::create(b, loc, type, isInside(place, indices, 1, 1), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, plain());
  b.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  scf::YieldOp::create(b, loc, zero);
  return branch.getResult(0);
}

/// A float in another type. What is smaller than f32 becomes that first, and is
/// made of it.
Value Expander::cast(Value value, Type type) {
  Type single = b.getF32Type();
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from != 32 && to != 32)
    return cast(cast(value, single), type);
  if (from < to)
    return arith::ExtFOp::create(b, loc, type, value);
  auto narrow = arith::TruncFOp::create(b, loc, type, value);
  narrow.setRoundingmode(arith::RoundingMode::to_nearest_even);
  return narrow;
}

/// What products of a tile are summed in: `acc` of the wider of its types. The
/// tile takes the sums, rounded once.
Type Expander::sumType(qn::MultiplyTileOp op) {
  bool isDouble =
      elementOf(op.getSums()).isF64() || elementOf(op.getLeft()).isF64();
  return isDouble ? b.getF64Type() : b.getF32Type();
}

/// A matrix instruction sums in f32: a smaller tile is widened around it.
bool Expander::widened(qn::MultiplyTileOp op) {
  auto narrow = llvm::cast<MemRefType>(op.getSums().getType());
  if (!target.isGpu() || narrow.getElementTypeBitWidth() >= 32 ||
      elementOf(op.getLeft()).isF64() ||
      !hasMatrices(target, elementOf(op.getLeft())))
    return false;
  Value tile = op.getSums();
  b.setInsertionPointAfterValue(tile);
  loc = op->getLoc();
  Type single = b.getF32Type();
  Value wide = qn::LocalOp::create(
      b, loc, MemRefType(MemRefType::Builder(narrow).setElementType(single)));
  b.setInsertionPoint(op);
  for (std::int64_t element = 0; element < narrow.getNumElements(); ++element)
    keep(cast(share(tile, constant(element)), single), wide, constant(element));
  op.getSumsMutable().assign(wide);
  b.setInsertionPointAfter(op);
  for (std::int64_t element = 0; element < narrow.getNumElements(); ++element)
    keep(cast(share(wide, constant(element)), narrow.getElementType()), tile,
         constant(element));
  return true;
}

Value Expander::share(Value tile, Value number) {
  return qn::ReadOp::create(b, loc, elementOf(tile), tile, number, false,
                            IntegerAttr());
}

void Expander::keep(Value value, Value tile, Value number) {
  qn::WriteOp::create(b, loc, value, tile, number, false, IntegerAttr());
}

/// Indices so many rows and columns further.
Expander::Values Expander::from(ValueRange indices, Value row, Value column) {
  Values moved(indices);
  unsigned rank = moved.size();
  moved[rank - 2] = plus(moved[rank - 2], row);
  moved[rank - 1] = plus(moved[rank - 1], column);
  return moved;
}

/// Once for tiles that are wholly inside, once for others.
void Expander::parted(Value whole, llvm::function_ref<void(bool)> body) {
  auto branch = scf::IfOp::create(b, loc, whole, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body(false);
  b.setInsertionPointToStart(branch.elseBlock());
  body(true);
}

/// Once for each element of a tile that the thread has, with its place.
template <typename Op>
void Expander::each(Op op, llvm::function_ref<void(Value, Values, bool)> body) {
  std::int64_t rows = op.getRows(), columns = op.getColumns();
  Value whole = isInside(op.getPlace(), op.getIndices(), rows, columns);
  parted(whole, [&](bool guarded) {
    inParts(rows, columns, guarded, [&](const Part &part) {
      for (std::int64_t element = 0; element < elements(part); ++element) {
        Position at = position(element, part.columns);
        body(number(part, element, columns),
             from(op.getIndices(), rowOf(part, at), columnOf(part, at)),
             guarded);
      }
    });
  });
}

void Expander::load(qn::LoadTileOp op) {
  Value tile = op.getTile(), place = op.getPlace();
  begin(op, tile);
  each(op, [&](Value number, const Values &indices, bool guarded) {
    keep(cast(read(place, indices, guarded), elementOf(tile)), tile, number);
  });
  op.erase();
}

void Expander::store(qn::StoreTileOp op) {
  Value tile = op.getTile(), place = op.getPlace();
  begin(op, tile);
  each(op, [&](Value number, const Values &indices, bool guarded) {
    Value value = cast(share(tile, number), elementOf(place));
    OpBuilder::InsertionGuard guard(b);
    if (guarded) {
      auto branch =
          scf::IfOp::create(b, loc, isInside(place, indices, 1, 1), false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    qn::WriteOp::create(b, loc, value, place, indices, false, IntegerAttr());
  });
  op.erase();
}

/// An element of a left factor that is a tile, from the lane of the row that
/// has it. Sums and factors of the same size have the same rows in a lane.
Value Expander::fromTile(qn::MultiplyTileOp op, Value row, Position at,
                         Value step) {
  Value tile = op.getLeft();
  std::int64_t depth = op.getDepth();
  Value lane = qn::LaneOp::create(b, loc, b.getI64Type());
  auto by = [&](auto op, Value value, std::int64_t other) -> Value {
    return decltype(op)::create(b, loc, value, constant(other));
  };
  Value number, from;
  if (!target.isGpu()) {
    std::int64_t warp = target.warpSize();
    Value first = plus(by(arith::MulIOp(), row, depth), step);
    number = by(arith::DivUIOp(), first, warp);
    from = by(arith::RemUIOp(), step, warp);
  } else {
    MatrixLayout lies = tileLayout(target, elementOf(tile));
    Value column = by(arith::AndIOp(), step, matrixSize - 1);
    TileOwner owner = tileOwner(b, loc, lies, column);
    const auto *first =
        llvm::find(lies.sums, MatrixLayout::Place(at.row % matrixSize, 0));
    std::int64_t part = at.row / matrixSize * (depth / matrixSize);
    number = plus(by(arith::DivUIOp(), step, matrixSize), part);
    number = by(arith::MulIOp(), number, lies.sums.size());
    number = plus(plus(number, owner.element), first - lies.sums.begin());
    std::int64_t lanes = tileRowLanes(target);
    std::int64_t own = lies.isTurned ? matrixSize - 1 : ~(lanes - 1);
    from = plus(by(arith::AndIOp(), lane, own), owner.lane);
  }
  return qn::ShuffleOp::create(b, loc, elementOf(tile), qn::ShuffleKind::idx,
                               share(tile, number), from);
}

/// Every sum plus one product.
Expander::Values Expander::productStep(qn::MultiplyTileOp op, const Part &part,
                                       Value step, ValueRange sums,
                                       bool guarded) {
  Type type = sumType(op);
  DenseMap<std::int64_t, Value> left, right;
  Values next;
  for (auto [element, sum] : llvm::enumerate(sums)) {
    Position at = position(element, part.columns);
    Value &a = left[at.row], &c = right[at.column];
    if (!a && op.hasLeftTile())
      a = cast(fromTile(op, rowOf(part, at), at, step), type);
    if (!a)
      a = cast(read(op.getLeft(),
                    from(op.getLeftIndices(), rowOf(part, at), step), guarded),
               type);
    if (!c) {
      Value line = columnOf(part, at);
      bool isTurned = op.getTransposed();
      Values place = from(op.getRightIndices(), isTurned ? line : step,
                          isTurned ? step : line);
      c = cast(read(op.getRight(), place, guarded), type);
    }
    next.push_back(math::FmaOp::create(b, loc, a, c, sum));
  }
  return next;
}

/// What is rare has a branch for each element: its conditions are not unrolled.
void Expander::multiplyPart(qn::MultiplyTileOp op, const Part &part,
                            bool guarded) {
  Value tile = op.getSums();
  Values numbers, sums;
  for (std::int64_t element = 0; element < elements(part); ++element) {
    numbers.push_back(number(part, element, op.getColumns()));
    sums.push_back(cast(share(tile, numbers.back()), sumType(op)));
  }
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(op.getDepth()),
                                 constant(1), sums);
  if (guarded)
    neverUnroll(loop);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Values next = productStep(op, part, loop.getInductionVar(),
                              loop.getRegionIterArgs(), guarded);
    scf::YieldOp::create(b, loc, next);
  }
  for (auto [number, sum] : llvm::zip(numbers, loop.getResults()))
    keep(cast(sum, elementOf(tile)), tile, number);
}

void Expander::multiply(qn::MultiplyTileOp op) {
  begin(op, op.getSums());
  bool isTurned = op.getTransposed();
  Value whole = isInside(op.getRight(), op.getRightIndices(),
                         isTurned ? op.getColumns() : op.getDepth(),
                         isTurned ? op.getDepth() : op.getColumns());
  if (!op.hasLeftTile())
    whole = arith::AndIOp::create(b, loc, whole,
                                  isInside(op.getLeft(), op.getLeftIndices(),
                                           op.getRows(), op.getDepth()));
  parted(whole, [&](bool guarded) {
    inParts(op.getRows(), op.getColumns(), guarded,
            [&](const Part &part) { multiplyPart(op, part, guarded); });
  });
  op.erase();
}

/// All are read before the first is written.
void Expander::copy(qn::CopyOp op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  Type type = elementOf(op.getTo());
  auto complex = dyn_cast<ComplexType>(type);
  unsigned halves = complex ? 2 : 1;
  Values taken;
  auto at = [&](ValueRange indices, std::int64_t number) {
    Values moved(indices);
    moved.back() = plus(moved.back(), number);
    return moved;
  };
  auto part = [&](unsigned half) {
    return complex ? b.getI64IntegerAttr(half) : IntegerAttr();
  };
  std::int64_t behind = op.getToIndices().size();
  for (std::int64_t number = 0; number < std::int64_t(op.getCount()); ++number)
    for (unsigned half = 0; half < halves; ++half) {
      auto read = qn::ReadOp::create(
          b, loc, complex ? complex.getElementType() : type, op.getFrom(),
          at(op.getFromIndices(), number), op.getChecked(), part(half));
      qn::keepUnsigned(op, behind, op.getFromIndices().size(), read);
      taken.push_back(read);
    }
  for (auto [number, value] : llvm::enumerate(taken)) {
    auto write = qn::WriteOp::create(b, loc, value, op.getTo(),
                                     at(op.getToIndices(), number / halves),
                                     op.getChecked(), part(number % halves));
    qn::keepUnsigned(op, 0, behind, write);
  }
  op.erase();
}

void quern::expandTiles(qn::KernelOp kernel, const TargetInfo &target) {
  SmallVector<Operation *> all;
  kernel.walk([&](Operation *op) { all.push_back(op); });
  Expander expander(kernel, target);
  for (Operation *op : all) {
    if (auto tile = dyn_cast<qn::LoadTileOp>(op))
      expander.load(tile);
    else if (auto tile = dyn_cast<qn::StoreTileOp>(op))
      expander.store(tile);
    else if (auto product = dyn_cast<qn::MultiplyTileOp>(op);
             product && !isMatrixProduct(product, target) &&
             !expander.widened(product))
      expander.multiply(product);
    else if (target.isGpu())
      continue;
    else if (auto combine = dyn_cast<qn::CombineOp>(op);
             combine && combine.getScope() == qn::Scope::row)
      combine.setScope(qn::Scope::warp); // a row lies across all lanes
    else if (auto copies = dyn_cast<qn::CopyOp>(op))
      expander.copy(copies);
    else if (isa<qn::CommitCopiesOp, qn::AwaitCopiesOp>(op))
      op->erase();
  }
}
