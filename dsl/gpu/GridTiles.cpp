// Products of tiles by matrix instructions: a warp reads fragments where its
// factors lie, in shared memory or in a tensor.
#include "dsl/gpu/GridEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Elements of 16 bits in a piece that `ldmatrix` reads.
static constexpr std::int64_t piecesOfLine = 8;

/// A factor's first element, and how one gets on from there: along its lines,
/// rows of the left and columns of the right one, and along the depth.
struct GridEmitter::Factor {
  Value first;                   ///< pointer to the element at the indices
  Value lineStride, depthStride; ///< in elements
  Value line, depth;             ///< the indices, i64
  Value lineExtent, depthExtent; ///< i64
  std::int64_t lines = 0, steps = 0;
  bool isKnown[2] = {}; ///< certainly in range, along lines and depth
  Value others;         ///< whether the other indices are in range
  Type element, stored; ///< as a value, in memory
  bool isDense = false; ///< neighbours along the depth
  bool isRight = false;
  bool isTile = false;    ///< what the lanes keep
  bool isInBanks = false; ///< lines of shared memory, read by `ldmatrix`

  std::int64_t bytes() const { return stored.getIntOrFloatBitWidth() / 8; }
  /// Neighbours of so many that one access takes.
  std::int64_t atOnce(std::int64_t run) const {
    return std::min<std::int64_t>(run, 16 / bytes());
  }
};

/// Lines of shared memory whose pieces of sixteen bytes `ldmatrix` reads.
bool GridEmitter::isInBanks(Value of) const {
  auto memory = dyn_cast<MemRefType>(of.getType());
  if (!memory || memory.getMemorySpaceAsInt() != 3 ||
      target.kind != TargetKind::Nvptx)
    return false;
  Type element = memory.getElementType();
  return (element.isF16() || element.isBF16()) &&
         memory.getShape().back() % piecesOfLine == 0;
}

/// Whether so many positions from an index on are certainly in an array.
bool GridEmitter::isThere(qn::MultiplyTileOp op, Value of, unsigned dimension,
                          Value index, std::int64_t count) const {
  auto memory = dyn_cast<MemRefType>(of.getType());
  return memory && model.ranges.isInside(
                       index, {}, memory.getDimSize(dimension) - count + 1, op);
}

GridEmitter::Factor GridEmitter::factorOf(qn::MultiplyTileOp op, bool isRight) {
  Value of = isRight ? op.getRight() : op.getLeft();
  ValueRange indices = isRight ? op.getRightIndices() : op.getLeftIndices();
  Factor made;
  made.isRight = isRight;
  made.lines = isRight ? op.getColumns() : op.getRows();
  made.steps = op.getDepth();
  made.element = elementOf(of);
  if (!isRight && op.hasLeftTile()) {
    made.isTile = true;
    made.first = get(of);
    made.stored = memoryType(made.element);
    return made;
  }
  Place at = place(op, of, indices, /*checked=*/false, {});
  made.first = at.pointer;
  made.stored = at.element;
  Values strides = stridesOf(of);
  SmallVector<Value> extents;
  auto operand = dyn_cast<qn::OperandType>(of.getType());
  for (unsigned dimension = 0; dimension < indices.size(); ++dimension)
    extents.push_back(
        operand
            ? words[packet.extentWord(
                  model.kernel.axisNumber(operand.getAxes()[dimension]))]
            : constant(cast<MemRefType>(of.getType()).getDimSize(dimension)));
  unsigned last = indices.size() - 1;
  bool isAcross = isRight && !op.getTransposed();
  unsigned depth = isAcross ? last - 1 : last, line = last + last - 1 - depth;
  made.line = get(indices[line]);
  made.depth = get(indices[depth]);
  made.lineExtent = extents[line];
  made.depthExtent = extents[depth];
  made.lineStride = strides[line];
  made.depthStride = strides[depth];
  made.isDense =
      operand ? operand.getStrides()[depth] == StrideClass::One : depth == last;
  made.isInBanks = isInBanks(of);
  made.isKnown[0] = isThere(op, of, line, indices[line], made.lines);
  made.isKnown[1] = isThere(op, of, depth, indices[depth], made.steps);
  made.others = othersAreThere(op, of, indices, extents);
  return made;
}

/// Whether the indices in front of the last two are in range.
Value GridEmitter::othersAreThere(qn::MultiplyTileOp op, Value of,
                                  ValueRange indices, ValueRange extents) {
  Value all = constant(1, b.getI1Type());
  for (unsigned dimension = 0; dimension + 2 < indices.size(); ++dimension) {
    if (isThere(op, of, dimension, indices[dimension], 1))
      continue;
    Value fits =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                              get(indices[dimension]), extents[dimension]);
    all = arith::AndIOp::create(b, loc, all, fits);
  }
  return all;
}

/// Whether all of a factor is in range, and pieces of dense ones lie at
/// multiples of their size.
Value GridEmitter::isWhole(const Factor &factor) {
  if (factor.isTile)
    return constant(1, b.getI1Type());
  Value all = factor.others;
  auto both = [&](Value other) {
    all = arith::AndIOp::create(b, loc, all, other);
  };
  auto fits = [&](Value index, Value extent, std::int64_t count) {
    Value limit = arith::SubIOp::create(b, loc, extent, constant(count - 1));
    limit = arith::MaxSIOp::create(b, loc, limit, constant(0));
    both(
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, limit));
  };
  if (!factor.isKnown[0])
    fits(factor.line, factor.lineExtent, factor.lines);
  if (!factor.isKnown[1])
    fits(factor.depth, factor.depthExtent, factor.steps);
  if (factor.isInBanks) {
    Value last = factor.isDense ? factor.depth : factor.line;
    last = arith::AndIOp::create(b, loc, last, constant(piecesOfLine - 1));
    both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, last,
                               constant(0)));
  }
  if (!factor.isDense || factor.isInBanks)
    return all;
  std::int64_t each = factor.bytes(), run = factor.atOnce(layout.run);
  Type word = b.getI64Type();
  Value low = LLVM::PtrToIntOp::create(b, loc, word, factor.first);
  Value stride = factor.lineStride;
  if (stride.getType() != word)
    stride = arith::ExtSIOp::create(b, loc, word, stride);
  stride = arith::MulIOp::create(b, loc, stride, constant(each));
  low = arith::OrIOp::create(b, loc, low, stride);
  low = arith::AndIOp::create(b, loc, low, constant(each * run - 1));
  both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low,
                             constant(0)));
  return all;
}

/// Neighbours along the depth, so many lines and steps from the first element
/// (i32). What is not there is zero.
Value GridEmitter::piece(const Factor &factor, Value line, Value depth,
                         bool isWhole) {
  std::int64_t run = layout.run, each = factor.bytes();
  Type type = factor.lineStride.getType();
  auto fit = [&](Value number) -> Value {
    return number.getType() == type
               ? number
               : Value(arith::ExtUIOp::create(b, loc, type, number));
  };
  auto pointer = [&](Value step) -> Value {
    Value at = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, fit(line), factor.lineStride),
        arith::MulIOp::create(b, loc, fit(step), factor.depthStride));
    return LLVM::GEPOp::create(b, loc, factor.first.getType(), factor.stored,
                               factor.first, ArrayRef<LLVM::GEPArg>{at});
  };
  auto vector = VectorType::get({run}, factor.stored);
  if (isWhole && factor.isDense) {
    Value raw = LLVM::LoadOp::create(b, loc, vector, pointer(depth),
                                     each * factor.atOnce(run));
    return fromMemory(b, loc, raw, factor.element);
  }
  Values parts;
  for (std::int64_t number = 0; number < run; ++number) {
    Value step = arith::AddIOp::create(b, loc, depth, short32(number)), there;
    if (!isWhole) {
      auto inside = [&](Value first, Value by, Value extent) -> Value {
        by = arith::ExtUIOp::create(b, loc, b.getI64Type(), by);
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                     arith::AddIOp::create(b, loc, first, by),
                                     extent);
      };
      there = arith::AndIOp::create(
          b, loc, inside(factor.line, line, factor.lineExtent),
          inside(factor.depth, step, factor.depthExtent));
      there = arith::AndIOp::create(b, loc, there, factor.others);
    }
    parts.push_back(guarded(there, factor.stored, [&]() -> Value {
      return LLVM::LoadOp::create(b, loc, factor.stored, pointer(step), each);
    }));
  }
  Value raw = vector::FromElementsOp::create(b, loc, vector, parts);
  return fromMemory(b, loc, raw, factor.element);
}

/// What a lane holds of both factors, from `depth` on as deep as is multiplied
/// at a time: of each part's pieces one after the other.
GridEmitter::Values GridEmitter::fragments(qn::MultiplyTileOp op,
                                           ArrayRef<Factor> factors,
                                           unsigned depth, bool isWhole) {
  MatrixLane own = device.matrixLane(loc, lane, layout);
  Values all;
  for (const Factor &factor : factors)
    for (std::int64_t part = 0; part < factor.lines; part += matrixSize) {
      if (factor.isTile) {
        for (MatrixLayout::Place place : layout.left)
          all.push_back(pieceOfTile(factor, own, part, depth, place));
        continue;
      }
      if (factor.isInBanks && isWhole) {
        llvm::append_range(all, banks(factor, part, depth));
        continue;
      }
      for (MatrixLayout::Place place :
           factor.isRight ? layout.right : layout.left) {
        Value line = arith::AddIOp::create(b, loc, own.line,
                                           short32(part + place.first));
        Value step = arith::AddIOp::create(b, loc, own.depth,
                                           short32(depth + place.second));
        all.push_back(piece(factor, line, step, isWhole));
      }
    }
  return all;
}

/// Sixteen lines by sixteen steps of shared memory: every lane says where one
/// of 32 pieces lies, in the order of the layout's places.
GridEmitter::Values GridEmitter::banks(const Factor &factor, std::int64_t line,
                                       std::int64_t depth) {
  auto by = [&](auto op, Value value, std::int64_t other) -> Value {
    return decltype(op)::create(b, loc, value, short32(other));
  };
  Value low = by(arith::AndIOp(), lane, 7),
        high = by(arith::AndIOp(), lane, 16);
  Value middle = by(arith::AndIOp(), lane, 8);
  high = by(arith::ShRUIOp(), high, 1);
  // The left one's second piece is eight lines on, the right one's eight steps.
  Value lines = factor.isRight ? high : middle;
  Value steps = factor.isRight ? middle : high;
  Value &along = factor.isDense ? lines : steps;
  along = arith::AddIOp::create(b, loc, along, low);
  lines = by(arith::AddIOp(), lines, line);
  steps = by(arith::AddIOp(), steps, depth);
  Value at = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, lines, factor.lineStride),
      arith::MulIOp::create(b, loc, steps, factor.depthStride));
  Value place =
      LLVM::GEPOp::create(b, loc, factor.first.getType(), factor.stored,
                          factor.first, ArrayRef<LLVM::GEPArg>{at});
  return device.loadMatrices(loc, place, !factor.isDense, factor.element);
}

/// What the lane has of a left factor that is a tile; what other lanes have of
/// its rows, it takes from them.
Value GridEmitter::pieceOfTile(const Factor &factor, MatrixLane own,
                               std::int64_t line, std::int64_t depth,
                               MatrixLayout::Place place) {
  MatrixLayout lies = tileLayout(target, factor.element);
  std::int64_t across = factor.steps / matrixSize;
  std::int64_t part = line / matrixSize * across + depth / matrixSize;
  auto element = [&](std::int64_t number) -> Value {
    std::int64_t each = lies.sums.size();
    Value at = LLVM::GEPOp::create(
        b, loc, factor.first.getType(), factor.stored, factor.first,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(part * each + number)});
    return LLVM::LoadOp::create(b, loc, factor.stored, at, factor.bytes());
  };
  bool isOwn = !lies.isTurned || lies.rowStep == layout.run;
  Values parts;
  for (std::int64_t number = 0; number < layout.run; ++number) {
    unsigned column = depth % matrixSize + place.second + number;
    auto found =
        llvm::find(lies.sums, MatrixLayout::Place(place.first, column));
    if (isOwn) {
      parts.push_back(element(found - lies.sums.begin()));
      continue;
    }
    Value at = arith::AddIOp::create(b, loc, own.depth, short32(column));
    TileOwner owner = tileOwner(b, loc, lies, at);
    Value row = arith::AndIOp::create(b, loc, lane, short32(matrixSize - 1));
    Value from = arith::AddIOp::create(b, loc, row, owner.lane), taken;
    for (unsigned each = 0; each < lies.sums.size(); ++each) {
      Value other = device.shuffle(loc, here.set, element(each), from);
      Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                       owner.element, short32(each));
      taken = taken ? Value(arith::SelectOp::create(b, loc, is, other, taken))
                    : other;
    }
    parts.push_back(taken);
  }
  auto vector = VectorType::get({layout.run}, factor.stored);
  Value raw = vector::FromElementsOp::create(b, loc, vector, parts);
  return fromMemory(b, loc, raw, factor.element);
}

/// The thread's share of a tile, as `multiply` takes it, or back from there.
GridEmitter::Values GridEmitter::sumsOf(Value tile, unsigned parts) {
  unsigned each = layout.sums.size();
  Values sums;
  for (unsigned place = 0; place < parts * each; ++place)
    sums.push_back(
        LLVM::LoadOp::create(b, loc, layout.sum, shareAt(tile, place),
                             layout.sum.getIntOrFloatBitWidth() / 8));
  if (!layout.isVector)
    return sums;
  auto type = VectorType::get({each}, layout.sum);
  Values joined;
  for (unsigned part = 0; part < parts; ++part)
    joined.push_back(vector::FromElementsOp::create(
        b, loc, type, ArrayRef(sums).slice(part * each, each)));
  return joined;
}

Value GridEmitter::shareAt(Value tile, unsigned place) {
  return LLVM::GEPOp::create(
      b, loc, tile.getType(), layout.sum, tile,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place)});
}

/// The instructions stand outside of all branches: the whole warp makes them.
void GridEmitter::multiplyTile(qn::MultiplyTileOp op) {
  layout = tileLayout(target, elementOf(op.getSums()));
  Factor factors[] = {factorOf(op, false), factorOf(op, true)};
  Value whole =
      arith::AndIOp::create(b, loc, isWhole(factors[0]), isWhole(factors[1]));
  unsigned rows = op.getRows() / matrixSize;
  unsigned columns = op.getColumns() / matrixSize;
  std::size_t leftEach = layout.left.size(), rightEach = layout.right.size();
  unsigned each = layout.sumValues();
  Value tile = get(op.getSums());
  Values sums = sumsOf(tile, rows * columns);
  auto vector = VectorType::get({layout.run}, factors[0].element);
  SmallVector<Type> types(rows * leftEach + columns * rightEach, vector);
  for (unsigned depth = 0; depth < op.getDepth(); depth += layout.depth) {
    auto branch = scf::IfOp::create(b, loc, types, whole, true);
    for (bool isWhole : {true, false}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(isWhole ? branch.thenBlock()
                                         : branch.elseBlock());
      Values pieces = fragments(op, factors, depth, isWhole);
      scf::YieldOp::create(b, loc, pieces);
    }
    ValueRange left = branch.getResults().take_front(rows * leftEach);
    ValueRange right = branch.getResults().drop_front(left.size());
    for (unsigned part = 0; part < rows * columns; ++part) {
      ValueRange own = left.slice(part / columns * leftEach, leftEach);
      ValueRange other = right.slice(part % columns * rightEach, rightEach);
      if (layout.isTurned)
        std::swap(own, other);
      device.multiply(loc, own, other,
                      MutableArrayRef<Value>(sums).slice(part * each, each));
    }
  }
  for (unsigned place = 0; place < rows * columns * layout.sums.size();
       ++place) {
    unsigned part = place / layout.sums.size();
    Value sum = device.sumAt(loc, ValueRange(sums).slice(part * each, each),
                             place % layout.sums.size());
    LLVM::StoreOp::create(b, loc, sum, shareAt(tile, place),
                          layout.sum.getIntOrFloatBitWidth() / 8);
  }
}
