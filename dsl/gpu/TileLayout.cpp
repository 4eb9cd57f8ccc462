// Where a tile of an explicit kernel lies in the lanes of a warp.
#include "dsl/gpu/Matrix.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

MatrixLayout quern::tileLayout(const TargetInfo &target, Type element) {
  MatrixLayout layout = matrixLayout(target, element);
  layout.isTurned = target.kind == TargetKind::Amdgpu;
  if (layout.isTurned)
    for (MatrixLayout::Place &place : layout.sums)
      std::swap(place.first, place.second);
  return layout;
}

unsigned quern::tileRowLanes(const TargetInfo &target) {
  if (!target.isGpu())
    return target.warpSize();
  return target.kind == TargetKind::Amdgpu ? target.warp / matrixSize : 4;
}

static Value constant(OpBuilder &b, Location loc, Type type,
                      std::int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

TilePlace quern::tileLane(OpBuilder &b, Location loc,
                          const MatrixLayout &layout, Value lane) {
  auto number = [&](std::int64_t value) {
    return constant(b, loc, lane.getType(), value);
  };
  Value across = number(layout.lanesAcross);
  Value part = arith::DivUIOp::create(b, loc, lane, across);
  Value within = arith::RemUIOp::create(b, loc, lane, across);
  part = arith::MulIOp::create(b, loc, part, number(layout.rowStep));
  within = arith::MulIOp::create(b, loc, within, number(layout.columnStep));
  return layout.isTurned ? TilePlace{within, part} : TilePlace{part, within};
}

/// Every bit of a column is a bit of the element's number, or of the lane's.
TileOwner quern::tileOwner(OpBuilder &b, Location loc,
                           const MatrixLayout &layout, Value column) {
  Type type = column.getType();
  unsigned step = layout.isTurned ? layout.rowStep : layout.columnStep;
  unsigned apart = layout.isTurned ? layout.lanesAcross : 1;
  TileOwner owner = {constant(b, loc, type, 0), constant(b, loc, type, 0)};
  for (unsigned bit = 1; bit < matrixSize; bit *= 2) {
    const auto *found = llvm::find(layout.sums, MatrixLayout::Place(0, bit));
    bool isElement = found != layout.sums.end();
    std::size_t weight = isElement ? found - layout.sums.begin()
                                   : std::size_t(bit) / step * apart;
    Value has =
        arith::AndIOp::create(b, loc, column, constant(b, loc, type, bit));
    Value by = constant(b, loc, type, llvm::Log2_32(weight));
    Value down = constant(b, loc, type, llvm::Log2_32(bit));
    has = arith::ShRUIOp::create(b, loc, has, down);
    has = arith::ShLIOp::create(b, loc, has, by);
    Value &into = isElement ? owner.element : owner.lane;
    into = arith::OrIOp::create(b, loc, into, has);
  }
  return owner;
}

namespace {

/// Numbers of i64 and constants.
struct Numbers {
  OpBuilder &b;
  Location loc;

  Value number(std::int64_t value) const {
    return constant(b, loc, b.getI64Type(), value);
  }
  template <typename Op> Value by(Value value, std::int64_t other) const {
    return Op::create(b, loc, value, number(other));
  }
  Value sum(Value left, Value right) const {
    return arith::AddIOp::create(b, loc, left, right);
  }
};

} // namespace

/// Elements of a CPU's lanes are neighbours.
static TileElement elementOfRow(const Numbers &in, const TargetInfo &target,
                                Value lane, Value element,
                                std::int64_t columns) {
  Value first = in.by<arith::MulIOp>(element, target.warpSize());
  Value row = in.by<arith::DivUIOp>(first, columns);
  Value column = in.by<arith::RemUIOp>(first, columns);
  return {row, in.sum(column, lane), row};
}

TileElement quern::tileElement(OpBuilder &b, Location loc,
                               const TargetInfo &target, Type type, Value lane,
                               Value element, std::int64_t columns) {
  Numbers in{b, loc};
  if (!target.isGpu())
    return elementOfRow(in, target, lane, element, columns);
  MatrixLayout layout = tileLayout(target, type);
  std::int64_t count = layout.sums.size(), across = columns / matrixSize;
  Value part = in.by<arith::DivUIOp>(element, count);
  Value down = in.by<arith::DivUIOp>(part, across);
  Value right = in.by<arith::RemUIOp>(part, across);
  TilePlace own = tileLane(b, loc, layout, lane);
  Value row = in.sum(own.row, in.by<arith::MulIOp>(down, matrixSize));
  Value column = in.sum(own.column, in.by<arith::MulIOp>(right, matrixSize));
  // Every bit of the number within sixteen by sixteen is a step along one axis.
  Value slot = in.number(0);
  std::int64_t rows = 1;
  for (std::int64_t bit = 1; bit < count; bit *= 2) {
    Value has = in.by<arith::AndIOp>(element, bit);
    has = in.by<arith::ShRUIOp>(has, llvm::Log2_64(bit));
    auto [below, beside] = layout.sums[bit];
    column = in.sum(column, in.by<arith::MulIOp>(has, beside));
    if (below == 0)
      continue;
    row = in.sum(row, in.by<arith::MulIOp>(has, below));
    slot = in.sum(slot, in.by<arith::MulIOp>(has, rows));
    rows *= 2;
  }
  return {row, column, in.sum(slot, in.by<arith::MulIOp>(down, rows))};
}
