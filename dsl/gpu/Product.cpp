// Finds sums of products, and makes them of matrix instructions: a warp has a
// tile of rows and columns, and reads its fragments where the operands lie.
#include "dsl/gpu/Product.h"

#include "dsl/gpu/Entry.h"
#include "dsl/gpu/Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// The one axis of a set, or -1.
static int only(const AxisSet &axes) {
  return axes.count() == 1 ? int(axes.first()) : -1;
}

/// `s + x` over one declared axis, from zero, everywhere.
static bool isPlainSum(qn::ReduceOp op) {
  Block &block = op.getStep().front();
  auto sum = dyn_cast<arith::AddFOp>(block.front());
  return sum && isa<qn::RowwiseOp>(op->getParentOp()) && !op.getPortable() &&
         !op.getWhere() && op.getInputs().size() == 1 &&
         op.getInits().size() == 1 && op.getAxes().size() == 1 &&
         llvm::hasNItems(block, 2) &&
         block.getTerminator()->getOperand(0) == sum.getResult() &&
         matchPattern(op.getInits()[0], m_AnyZeroFloat());
}

/// What was widened to f32, where it has 16 bits.
static Value narrow(Value factor) {
  auto wide = factor.getDefiningOp<arith::ExtFOp>();
  if (!wide || !wide.getType().isF32())
    return Value();
  Type type = wide.getIn().getType();
  return type.isF16() || type.isBF16() ? wide.getIn() : Value();
}

/// The operand a factor is, as it lies in memory.
static MatrixProduct::Side sideOf(const KernelModel &model, Value factor,
                                  unsigned depth, unsigned other) {
  auto load = factor.getDefiningOp<qn::LoadOp>();
  if (!load || !load.getIndices().empty() || load.getPart())
    return {};
  auto operand = cast<BlockArgument>(load.getTensor());
  auto type = cast<qn::OperandType>(operand.getType());
  if (model.kernel.isStaged(operand))
    return {};
  for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides())) {
    unsigned axis = model.axisOf(name);
    if (stride == StrideClass::One && (axis == depth || axis == other))
      return {operand, axis == depth};
  }
  return {};
}

std::optional<MatrixProduct> quern::findProduct(const KernelModel &model,
                                                const LaunchPlan &launch,
                                                const TargetInfo &target) {
  if (launch.kind != LaunchKind::Stores || model.reductions.size() != 1 ||
      !model.scans.empty() || model.kernel.getStaged())
    return std::nullopt;
  MatrixProduct made{.sum = model.reductions.front(), .left = {}, .right = {}};
  if (model.isMaterialised(made.sum) || !isPlainSum(made.sum))
    return std::nullopt;
  auto product = made.sum.getInputs()[0].getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  made.left = narrow(product.getLhs());
  made.right = narrow(product.getRhs());
  if (!made.left && !made.right) {
    made.left = product.getLhs();
    made.right = product.getRhs();
    made.byLanes = !hasMatrices(target, made.left.getType());
  }
  if (!made.left || !made.right || made.left.getType() != made.right.getType())
    return std::nullopt;
  AxisSet left = model.axesOf(made.left), right = model.axesOf(made.right);
  AxisSet depth = model.axesOf(made.sum.getAxes());
  int row = only(left & ~right & ~depth), column = only(right & ~left & ~depth);
  bool fits = row >= 0 && column >= 0 && (left & right & depth) &&
              only(depth) < int(model.declaredAxes()) &&
              launch.parallel == ((left | right) & ~depth);
  for (qn::StoreOp store : launch.stores)
    fits &= model.factsOf(store).axes == launch.parallel;
  if (!fits)
    return std::nullopt;
  made.row = row;
  made.column = column;
  made.depth = only(depth);
  made.leftSide = sideOf(model, made.left, made.depth, made.row);
  made.rightSide = sideOf(model, made.right, made.depth, made.column);
  if (made.byLanes && !made.isPlain())
    return std::nullopt;
  return made;
}

/// Neighbours along the depth of a line, as a vector. `end`: what lies behind
/// it counts as zero; null where nothing does.
Value EntryBuilder::fragmentPiece(Frame &body, bool isRight, Value line,
                                  Value depth, Value end, unsigned count) {
  const MatrixProduct &product = *plan.product;
  Value factor = isRight ? product.right : product.left;
  Frame place = Frame::inside(body, body.block);
  place.anchor = body.anchor;
  place.bind(Binding{.axis = isRight ? product.column : product.row,
                     .position = line,
                     .shared = true});
  if (!end) {
    place.bind(Binding{.axis = product.depth,
                       .position = depth,
                       .lanes = count,
                       .shared = true});
    return emitter.emit(place, factor, 0);
  }
  Type element = factor.getType();
  Emitter::Values parts;
  for (unsigned number = 0; number < count; ++number) {
    Frame one = Frame::inside(place, place.block);
    one.anchor = place.anchor;
    Value step = emitter.constant(one, number);
    Value limit = emitter.constant(one, 1);
    OpBuilder &b = emitter.in(one);
    Value position = arith::AddIOp::create(b, loc, depth, step);
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, position, end);
    Value last = arith::SubIOp::create(b, loc, end, limit);
    position = arith::MinUIOp::create(b, loc, position, last);
    one.bind(
        Binding{.axis = product.depth, .position = position, .shared = true});
    Value value = emitter.emit(one, factor, 0);
    emitter.in(one);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
    parts.push_back(arith::SelectOp::create(b, loc, inside, value, zero));
  }
  emitter.in(place);
  auto type = VectorType::get({std::int64_t(count)}, element);
  return vector::FromElementsOp::create(builder, loc, type, parts);
}

/// The pieces a lane holds of a factor's part of the tile, from `depth` on.
Emitter::Values EntryBuilder::fragment(Frame &body, const Tile &tile,
                                       bool isRight, unsigned part, Value depth,
                                       Value end) {
  Emitter::Values pieces;
  const auto &places = isRight ? layout.right : layout.left;
  const Emitter::Values &lines = isRight ? tile.columns : tile.rows;
  unsigned most = std::min(layout.run, plan.vectors);
  for (auto [number, place] : llvm::enumerate(places)) {
    Value line = lines[part * places.size() + number];
    Emitter::Values parts;
    for (unsigned first = 0; first < layout.run; first += most) {
      Value step = emitter.constant(body, place.second + first);
      Value at = arith::AddIOp::create(emitter.in(body), loc, depth, step);
      parts.push_back(fragmentPiece(body, isRight, line, at, end, most));
    }
    emitter.in(body);
    pieces.push_back(joined(parts));
  }
  return pieces;
}

/// Vectors one behind the other; at most two.
Value EntryBuilder::joined(ValueRange parts) {
  if (parts.size() == 1)
    return parts.front();
  assert(parts.size() == 2 && "sixteen elements of two bytes");
  std::int64_t count = cast<VectorType>(parts[0].getType()).getNumElements();
  SmallVector<std::int64_t> order = llvm::to_vector(llvm::seq(2 * count));
  return vector::ShuffleOp::create(builder, loc, parts[0], parts[1], order);
}

/// One step along the depth: fragments, then every product of two of them.
void EntryBuilder::productStep(Frame &body, const Tile &tile, Value depth,
                               Value end, Emitter::Values &sums) {
  Value first =
      arith::AddIOp::create(emitter.in(body), loc, depth, tile.laneDepth);
  SmallVector<Emitter::Values> right;
  for (unsigned part = 0; part < columnParts(); ++part)
    right.push_back(fragment(body, tile, true, part, first, end));
  // Rows come one after the other, for the sake of registers.
  MutableArrayRef<Value> rest(sums);
  unsigned each = columnParts() * layout.sumValues();
  for (unsigned part = 0; part < rowParts(); ++part) {
    Emitter::Values left = fragment(body, tile, false, part, first, end);
    emitter.in(body);
    multiplyAll(left, right, rest.take_front(each));
    rest = rest.drop_front(each);
  }
}

void EntryBuilder::multiplyAll(ArrayRef<Emitter::Values> left,
                               ArrayRef<Emitter::Values> right,
                               MutableArrayRef<Value> rest) {
  for (const Emitter::Values &rows : left)
    for (const Emitter::Values &columns : right) {
      device.multiply(loc, rows, columns, rest.take_front(layout.sumValues()));
      rest = rest.drop_front(layout.sumValues());
    }
}

/// Rows and columns this lane reads, kept inside the operands: what it makes of
/// others is not stored.
EntryBuilder::Tile EntryBuilder::productTile(Frame &frame, Value rows,
                                             Value columns) {
  Tile tile;
  emitter.in(frame);
  MatrixLane lane = device.matrixLane(loc, team.lane, layout);
  auto wide = [&](Value number) -> Value {
    return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
  };
  tile.lane = lane;
  tile.laneDepth = wide(lane.depth);
  tile.laneRow = wide(lane.row);
  tile.laneColumn = wide(lane.column);
  Value line = wide(lane.line);
  findWarpTile(frame, tile, rows, columns);
  auto within = [&](Value from, std::int64_t by, unsigned axis) -> Value {
    Value step = emitter.constant(frame, by), one = emitter.constant(frame, 1);
    Value extent = emitter.extent(frame, axis);
    OpBuilder &b = emitter.in(frame);
    Value at = arith::AddIOp::create(b, loc, from, line);
    at = arith::AddIOp::create(b, loc, at, step);
    Value last = arith::SubIOp::create(b, loc, extent, one);
    return arith::MinUIOp::create(b, loc, at, last);
  };
  for (unsigned part = 0; part < rowParts(); ++part)
    for (MatrixLayout::Place place : layout.left)
      tile.rows.push_back(within(tile.firstRow,
                                 std::int64_t(matrixSize) * part + place.first,
                                 plan.product->row));
  for (unsigned part = 0; part < columnParts(); ++part)
    for (MatrixLayout::Place place : layout.right)
      tile.columns.push_back(within(
          tile.firstColumn, std::int64_t(matrixSize) * part + place.first,
          plan.product->column));
  return tile;
}

/// The tile of one warp, or of one block. What cannot be copied to stages is
/// read where it lies, for sixteen rows after the others: the places of more
/// would not stay in registers beside the sums.
void EntryBuilder::product(Frame &frame, ValueRange position) {
  auto [row, column] = cornerOf(frame, position, plan.product->column);
  if (plan.product->byLanes)
    return laneProduct(frame, row, column);
  if (!plan.staged || emitter.aligned)
    return productAt(frame, row, column);
  Value zero = emitter.constant(frame, 0);
  Value step = emitter.constant(frame, matrixSize);
  Value end = emitter.constant(frame, std::int64_t(matrixSize) * rowParts());
  auto loop = scf::ForOp::create(emitter.in(frame), loc, zero, end, step);
  loop.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame body = Frame::inside(frame, loop.getBody());
  Value first =
      arith::AddIOp::create(emitter.in(body), loc, row, loop.getInductionVar());
  inPasses = true;
  productAt(body, first, column);
  inPasses = false;
  scf::YieldOp::create(emitter.in(body), loc);
  frame.anchor = anchor;
}

/// Sums, then what is behind them.
void EntryBuilder::productAt(Frame &frame, Value row, Value column) {
  Tile tile = productTile(frame, row, column);
  Emitter::Values sums;
  emitter.in(frame);
  for (unsigned part = 0; part < rowParts() * columnParts(); ++part)
    llvm::append_range(sums, device.noSums(loc, layout));
  if (!plan.staged || !emitter.aligned)
    sums = directSums(frame, tile, sums);
  else if (device.hasAsyncCopies())
    sums = stagedSums(frame, tile, sums);
  else
    sums = bufferedSums(frame, tile, sums);
  if (!plan.staged || !emitter.aligned || !byFragments())
    return storeTile(frame, tile, sums);
  // Where a lane's sums lie is found again: the loops leave no registers.
  const Team before = team;
  emitter.in(frame);
  team.thread = device.fromHere(loc, team.thread);
  team.lane = math("andi", team.thread, target.warp - 1);
  team.warp = math("divui", team.thread, target.warp);
  storeTile(frame, productTile(frame, row, column), sums);
  team = before;
}

/// Whole steps along the depth, then what is left.
Emitter::Values EntryBuilder::directSums(Frame &frame, const Tile &tile,
                                         Emitter::Values sums) {
  Value depth = emitter.extent(frame, plan.product->depth);
  Value step = emitter.constant(frame, layout.depth);
  Value zero = emitter.constant(frame, 0);
  OpBuilder &b = emitter.in(frame);
  Value rest = arith::RemUIOp::create(b, loc, depth, step);
  Value whole = arith::SubIOp::create(b, loc, depth, rest);
  for (bool last : {false, true}) {
    auto loop = scf::ForOp::create(emitter.in(frame), loc, last ? whole : zero,
                                   last ? depth : whole, step, sums);
    Operation *anchor = std::exchange(frame.anchor, loop);
    Frame body = Frame::inside(frame, loop.getBody());
    Emitter::Values now(loop.getRegionIterArgs());
    productStep(body, tile, loop.getInductionVar(), last ? depth : Value(),
                now);
    scf::YieldOp::create(emitter.in(body), loc, now);
    frame.anchor = anchor;
    sums.assign(loop.result_begin(), loop.result_end());
  }
  return sums;
}

/// Everything behind the sum. A block whose tile is whole asks so once.
void EntryBuilder::storeTile(Frame &frame, const Tile &tile, ValueRange sums) {
  if (!emitter.aligned || !byFragments())
    return storeParts(frame, tile, sums, false);
  Value below = emitter.constant(frame, stages::tileRows - 1);
  Value last =
      arith::AddIOp::create(emitter.in(frame), loc, tile.blockRow, below);
  Value whole =
      isInside(frame, last, tile.blockColumn, stages::columnsOf(plan) - 1);
  auto branch = scf::IfOp::create(emitter.in(frame), loc, whole, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  for (bool isWhole : {true, false}) {
    Block *block = isWhole ? branch.thenBlock() : branch.elseBlock();
    Frame side = Frame::inside(frame, block);
    side.anchor = block->getTerminator();
    storeParts(side, tile, sums, isWhole);
  }
  frame.anchor = anchor;
}

/// For each element a lane holds, or for two neighbours at a time. `isWhole`:
/// all of them are inside.
void EntryBuilder::storeParts(Frame &frame, const Tile &tile, ValueRange sums,
                              bool isWhole) {
  unsigned lanes = emitter.aligned ? layout.columnStep : 1;
  for (unsigned part = 0; part < rowParts() * columnParts(); ++part) {
    ValueRange of = sums.take_front(layout.sumValues());
    sums = sums.drop_front(layout.sumValues());
    std::int64_t below = std::int64_t(matrixSize) * (part / columnParts());
    std::int64_t beside = std::int64_t(matrixSize) * (part % columnParts());
    for (unsigned number = 0; number < layout.sums.size(); number += lanes) {
      emitter.in(frame);
      Emitter::Values parts;
      for (unsigned lane = 0; lane < lanes; ++lane)
        parts.push_back(device.sumAt(loc, of, number + lane));
      auto [row, column] = layout.sums[number];
      storeSums(frame, tile, parts, below + row, beside + column, isWhole);
    }
  }
}

/// Neighbouring sums so many rows and columns from the lane's first: as a
/// vector where all of them are inside, else one by one.
void EntryBuilder::storeSums(Frame &frame, const Tile &tile, ValueRange sums,
                             std::int64_t below, std::int64_t beside,
                             bool isWhole) {
  auto place = [&](Value from, Value lane, std::int64_t by) -> Value {
    Value step = emitter.constant(frame, by);
    OpBuilder &b = emitter.in(frame);
    Value at = arith::AddIOp::create(b, loc, from, lane);
    return arith::AddIOp::create(b, loc, at, step);
  };
  Value row = place(tile.firstRow, tile.laneRow, below);
  Value column = place(tile.firstColumn, tile.laneColumn, beside);
  std::int64_t count = sums.size();
  Value whole = isWhole ? Value() : isInside(frame, row, column, count - 1);
  if (count == 1)
    return storeWhere(frame, whole, row, column, sums.front());
  auto type = VectorType::get({count}, sums.front().getType());
  Value all =
      vector::FromElementsOp::create(emitter.in(frame), loc, type, sums);
  storeWhere(frame, whole, row, column, all);
  if (isWhole)
    return;
  // A branch of its own: as conditions beside the other one, what few tiles
  // need took registers of all.
  OpBuilder &b = emitter.in(frame);
  Value part = arith::XOrIOp::create(
      b, loc, whole, arith::ConstantIntOp::create(b, loc, 1, 1));
  auto branch = scf::IfOp::create(b, loc, part, false);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame rest = Frame::inside(frame, branch.thenBlock());
  rest.anchor = branch.thenBlock()->getTerminator();
  for (std::int64_t number = 0; number + 1 < count; ++number) {
    Value step = emitter.constant(rest, number);
    Value at = arith::AddIOp::create(emitter.in(rest), loc, column, step);
    storeWhere(rest, isInside(rest, row, at, 0), row, at, sums[number]);
  }
  frame.anchor = anchor;
}

/// Whether a place and the `beside`-th column from there are.
Value EntryBuilder::isInside(Frame &frame, Value row, Value column,
                             std::int64_t beside) {
  Value rows = emitter.extent(frame, plan.product->row);
  Value columns = emitter.extent(frame, plan.product->column);
  Value last = emitter.constant(frame, beside);
  OpBuilder &b = emitter.in(frame);
  auto below = [&](Value value, Value bound) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value,
                                 bound);
  };
  Value end = arith::AddIOp::create(b, loc, column, last);
  return arith::AndIOp::create(b, loc, below(row, rows), below(end, columns));
}

/// What is behind a sum, or behind neighbouring ones, where that holds, or
/// without a condition.
void EntryBuilder::storeWhere(Frame &frame, Value condition, Value row,
                              Value column, Value sum) {
  const MatrixProduct &product = *plan.product;
  auto vector = dyn_cast<VectorType>(sum.getType());
  Operation *anchor = frame.anchor;
  Frame at = Frame::inside(frame, frame.block);
  at.anchor = anchor;
  if (condition) {
    auto branch = scf::IfOp::create(emitter.in(frame), loc, condition, false);
    frame.anchor = branch;
    at = Frame::inside(frame, branch.thenBlock());
    at.anchor = branch.thenBlock()->getTerminator();
  }
  at.bind(Binding{.axis = product.row, .position = row, .shared = true});
  at.bind(Binding{.axis = product.column,
                  .position = column,
                  .lanes = vector ? unsigned(vector.getNumElements()) : 1,
                  .shared = true});
  at.values[{product.sum->getResult(0).getAsOpaquePointer(), Copies(0)}] = sum;
  emitter.emitStores(at, launch.stores);
  frame.anchor = anchor;
}
