// A product of floats that no matrix instruction takes unrounded: each lane of
// a block multiplies rows and columns of the tiles that wait in shared memory.
#include "dsl/gpu/Entry.h"
#include "dsl/gpu/Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::stages;

/// Where the parts of a lane begin. Lanes beside each other share rows, those
/// two further columns: so half a warp, and not a quarter, is served sixteen
/// bytes a lane at once.
EntryBuilder::Tile EntryBuilder::laneTile(Frame &frame, Value row,
                                          Value column) {
  Tile tile;
  findWarpTile(frame, tile, row, column);
  emitter.in(frame);
  auto bits = [&](std::int64_t from, std::int64_t mask, std::int64_t by) {
    Value part = math("andi", math("shrui", team.lane, from), mask);
    return math("muli", part, by);
  };
  auto both = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  std::int64_t run = perChunk(plan);
  tile.lane.row = both(bits(1, 1, run), bits(3, 3, 2 * run));
  tile.lane.column = both(bits(0, 1, run), bits(2, 1, 2 * run));
  if (lanesAcross() > 4)
    tile.lane.column = both(tile.lane.column, bits(5, 1, 4 * run));
  auto wide = [&](Value number) -> Value {
    return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
  };
  tile.laneRow = wide(tile.lane.row);
  tile.laneColumn = wide(tile.lane.column);
  return tile;
}

/// As many of a lane's rows, or columns, from `first` on as chunk `number`
/// along the depth has steps: for each step a number of each.
Emitter::Values EntryBuilder::laneSquare(const Tile &tile, bool isRight,
                                         std::int64_t first,
                                         std::int64_t number, Value stage) {
  std::int64_t side = perChunk(plan), depth = depthOf(plan);
  // On AMD lines always run along the depth.
  std::int64_t length = device.hasAsyncCopies() ? lineOf(isRight) : depth;
  bool alongDepth = length == depth;
  Value corner = arith::AddIOp::create(
      builder, loc, isRight ? tile.warpColumn : tile.warpRow,
      isRight ? tile.lane.column : tile.lane.row);
  corner = math("addi", corner, first * (isRight ? lanesAcross() : lanesBelow));
  auto type = VectorType::get({side}, plan.product->left.getType());
  Emitter::Values square(side * side);
  for (std::int64_t load = 0; load < side; ++load) {
    // The lines of a square turn alike.
    Value place = alongDepth ? chunkPlace(corner, short32(number), length)
                             : chunkPlace(short32(number * side + load),
                                          math("divui", corner, side), length);
    place = arith::AddIOp::create(builder, loc, place, stage);
    Value from =
        byteOf(inStages(place), (isRight ? leftBytes(plan) : 0) +
                                    (alongDepth ? load * plan.lineBytes : 0));
    Value chunk = LLVM::LoadOp::create(builder, loc, type, from, chunkBytes);
    for (std::int64_t other = 0; other < side; ++other)
      square[alongDepth ? other * side + load : load * side + other] =
          vector::ExtractOp::create(builder, loc, chunk, other);
  }
  return square;
}

/// Multiplies the tiles of a stage: what is read is multiplied before the next
/// rows are, for the sake of registers.
void EntryBuilder::multiplyLanes(const Tile &tile, Value stage,
                                 Emitter::Values &sums) {
  std::int64_t side = perChunk(plan), columns = laneColumns();
  for (std::int64_t number = 0; number < plan.lineBytes / chunkBytes;
       ++number) {
    SmallVector<Emitter::Values> right;
    for (std::int64_t column = 0; column < columns; column += side)
      right.push_back(laneSquare(tile, true, column, number, stage));
    for (std::int64_t first = 0; first < laneRows; first += side) {
      Emitter::Values left = laneSquare(tile, false, first, number, stage);
      for (std::int64_t at = 0; at < side * side; ++at)
        for (std::int64_t column = 0; column < columns; ++column) {
          std::int64_t step = at / side * side;
          Value &sum = sums[(first + at % side) * columns + column];
          Value other = right[column / side][step + column % side];
          sum = math::FmaOp::create(builder, loc, left[at], other, sum);
        }
    }
  }
}

/// The tile of a block.
void EntryBuilder::laneProduct(Frame &frame, Value row, Value column) {
  Tile tile = laneTile(frame, row, column);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(plan.product->left.getType()));
  Emitter::Values sums(laneRows * laneColumns(), zero);
  sums = device.hasAsyncCopies() ? stagedSums(frame, tile, sums)
                                 : bufferedSums(frame, tile, sums);
  storeLanes(frame, tile, sums);
}

/// Everything behind the sums, for neighbours at a time.
void EntryBuilder::storeLanes(Frame &frame, const Tile &tile, ValueRange sums) {
  std::int64_t run = perChunk(plan), each = emitter.aligned ? run : 1;
  std::int64_t columns = laneColumns();
  for (std::int64_t row = 0; row < laneRows; ++row)
    for (std::int64_t column = 0; column < columns; column += each)
      storeSums(frame, tile, sums.slice(row * columns + column, each),
                row % run + row / run * run * lanesBelow,
                column % run + column / run * run * lanesAcross(), false);
}
