// Finds sums of products, and makes them of mma instructions: a warp has a tile
// of rows and columns, and reads its fragments where the operands lie.
#include "dsl/gpu/Product.h"

#include "dsl/gpu/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// The one axis of a set, or -1.
static int only(AxisSet axes) {
  return llvm::has_single_bit(axes) ? int(llvm::Log2_64(axes)) : -1;
}

/// `s + x` over one declared axis, from zero, everywhere.
static bool isPlainSum(qn::ReduceOp op) {
  Block &block = op.getStep().front();
  auto sum = dyn_cast<arith::AddFOp>(block.front());
  return sum && !op.getPortable() && !op.getWhere() &&
         op.getInputs().size() == 1 && op.getInits().size() == 1 &&
         op.getAxes().size() == 1 && llvm::hasNItems(block, 2) &&
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
                                                const LaunchPlan &launch) {
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
  return made;
}

namespace {
/// Columns of a warp's tile in fragments of 16 by 8, 16 deep.
constexpr unsigned columnParts = 4, depthStep = 16;
} // namespace

/// Two neighbours along the depth, as the 32 bits of a fragment's register.
/// `end`: what lies behind it counts as zero; null where nothing does.
Value EntryBuilder::fragmentPair(Frame &body, Value factor, unsigned axis,
                                 Value at, Value depth, Value end) {
  Type element = factor.getType();
  auto pair = VectorType::get({2}, element);
  Frame place = Frame::inside(body, body.block);
  place.anchor = body.anchor;
  place.bind(Binding{.axis = axis, .position = at, .shared = true});
  Value both;
  if (!end) {
    place.bind(Binding{.axis = plan.product->depth,
                       .position = depth,
                       .lanes = 2,
                       .shared = true});
    both = emitter.emit(place, factor, 0);
  } else {
    Value parts[2];
    for (unsigned number : {0, 1}) {
      Frame one = Frame::inside(place, place.block);
      one.anchor = place.anchor;
      Value step = emitter.constant(one, number);
      Value limit = emitter.constant(one, 1);
      OpBuilder &b = emitter.in(one);
      Value position = arith::AddIOp::create(b, loc, depth, step);
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           position, end);
      Value last = arith::SubIOp::create(b, loc, end, limit);
      position = arith::MinUIOp::create(b, loc, position, last);
      one.bind(Binding{
          .axis = plan.product->depth, .position = position, .shared = true});
      Value value = emitter.emit(one, factor, 0);
      emitter.in(one);
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
      parts[number] = arith::SelectOp::create(b, loc, inside, value, zero);
    }
    emitter.in(place);
    both =
        vector::FromElementsOp::create(builder, loc, pair, ValueRange(parts));
  }
  emitter.in(place);
  if (element.isF16())
    return both;
  both = vector::BitCastOp::create(
      builder, loc, VectorType::get({1}, builder.getI32Type()), both);
  return vector::ExtractOp::create(builder, loc, both, 0);
}

/// One step along the depth: fragments, then every product of two of them.
void EntryBuilder::productStep(Frame &body, const Tile &tile, Value depth,
                               Value end, Emitter::Values &sums) {
  auto later = [&](Value value, std::int64_t by) -> Value {
    Value step = emitter.constant(body, by);
    return arith::AddIOp::create(emitter.in(body), loc, value, step);
  };
  const MatrixProduct &product = *plan.product;
  Value first = arith::AddIOp::create(emitter.in(body), loc, depth, tile.pair);
  Value second = later(first, 8);
  Emitter::Values left, right;
  for (unsigned part = 0; part < rowParts(); ++part)
    for (Value at : {first, second})
      for (unsigned half : {0, 1})
        left.push_back(fragmentPair(body, product.left, product.row,
                                    tile.rows[2 * part + half], at, end));
  for (unsigned part = 0; part < columnParts; ++part)
    for (Value at : {first, second})
      right.push_back(fragmentPair(body, product.right, product.column,
                                   tile.columns[part], at, end));
  emitter.in(body);
  for (unsigned row = 0; row < rowParts(); ++row)
    for (unsigned column = 0; column < columnParts; ++column) {
      auto into = MutableArrayRef<Value>(sums).slice(
          4 * (row * columnParts + column), 4);
      device.multiply(loc, ArrayRef(left).slice(4 * row, 4),
                      ArrayRef(right).slice(2 * column, 2), into);
    }
}

/// Rows and columns this lane reads, kept inside the operands: what it makes of
/// others is not stored.
EntryBuilder::Tile EntryBuilder::productTile(Frame &frame, Value rows,
                                             Value columns) {
  Tile tile;
  OpBuilder &b = emitter.in(frame);
  Type word = b.getI64Type();
  auto number = [&](std::int64_t value) {
    return emitter.constant(frame, value);
  };
  Value four = number(4), two = number(2);
  Value lane = arith::ExtUIOp::create(emitter.in(frame), loc, word, team.lane);
  tile.group = arith::DivUIOp::create(b, loc, lane, four);
  tile.pair = arith::RemUIOp::create(b, loc, lane, four);
  tile.pair = arith::MulIOp::create(b, loc, tile.pair, two);
  findWarpTile(frame, tile, rows, columns);
  rows = tile.firstRow;
  columns = tile.firstColumn;
  auto within = [&](Value from, std::int64_t by, unsigned axis) -> Value {
    Value step = number(by), one = number(1);
    Value extent = emitter.extent(frame, axis);
    emitter.in(frame);
    Value at = arith::AddIOp::create(b, loc, from, tile.group);
    at = arith::AddIOp::create(b, loc, at, step);
    Value last = arith::SubIOp::create(b, loc, extent, one);
    return arith::MinUIOp::create(b, loc, at, last);
  };
  for (unsigned half = 0; half < 2 * rowParts(); ++half)
    tile.rows.push_back(within(rows, 8 * half, plan.product->row));
  for (unsigned part = 0; part < columnParts; ++part)
    tile.columns.push_back(within(columns, 8 * part, plan.product->column));
  return tile;
}

/// The tile of one warp, or of one block: sums, then what is behind them.
void EntryBuilder::product(Frame &frame, ValueRange position) {
  Value corner[2];
  for (auto [axis, at] : llvm::zip(launch.axes, position)) {
    if (axis.tile == 1) {
      frame.bind(Binding{.axis = axis.axis, .position = at});
      continue;
    }
    Value size = emitter.constant(frame, axis.tile);
    corner[axis.axis == plan.product->column] =
        arith::MulIOp::create(emitter.in(frame), loc, at, size);
  }
  Tile tile = productTile(frame, corner[0], corner[1]);
  emitter.in(frame);
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Emitter::Values sums(4 * rowParts() * columnParts, none);
  bool isStaged = plan.staged && emitter.aligned;
  sums =
      isStaged ? stagedSums(frame, tile, sums) : directSums(frame, tile, sums);
  storeTile(frame, tile, sums);
}

/// Whole steps along the depth, then what is left.
Emitter::Values EntryBuilder::directSums(Frame &frame, const Tile &tile,
                                         Emitter::Values sums) {
  Value depth = emitter.extent(frame, plan.product->depth);
  Value step = emitter.constant(frame, depthStep);
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

/// Everything behind the sum, for each element a lane holds.
void EntryBuilder::storeTile(Frame &frame, const Tile &tile,
                             ArrayRef<Value> sums) {
  const MatrixProduct &product = *plan.product;
  auto place = [&](Value from, Value lane, std::int64_t by) -> Value {
    Value step = emitter.constant(frame, by);
    OpBuilder &b = emitter.in(frame);
    Value at = arith::AddIOp::create(b, loc, from, lane);
    return arith::AddIOp::create(b, loc, at, step);
  };
  for (auto [number, sum] : llvm::enumerate(sums)) {
    unsigned part = number / 4, inner = number % 4;
    Value row = place(tile.firstRow, tile.group,
                      16 * (part / columnParts) + 8 * (inner / 2));
    Value column = place(tile.firstColumn, tile.pair,
                         8 * (part % columnParts) + inner % 2);
    Value rows = emitter.extent(frame, product.row);
    Value columns = emitter.extent(frame, product.column);
    OpBuilder &b = emitter.in(frame);
    auto ult = arith::CmpIPredicate::ult;
    Value inside = arith::AndIOp::create(
        b, loc, arith::CmpIOp::create(b, loc, ult, row, rows),
        arith::CmpIOp::create(b, loc, ult, column, columns));
    auto branch = scf::IfOp::create(b, loc, inside, false);
    Operation *anchor = std::exchange(frame.anchor, branch);
    Frame at = Frame::inside(frame, branch.thenBlock());
    at.anchor = branch.thenBlock()->getTerminator();
    at.bind(Binding{.axis = product.row, .position = row, .shared = true});
    at.bind(
        Binding{.axis = product.column, .position = column, .shared = true});
    at.values[{product.sum->getResult(0).getAsOpaquePointer(), Copies(0)}] =
        sum;
    emitter.emitStores(at, launch.stores);
    frame.anchor = anchor;
  }
}
