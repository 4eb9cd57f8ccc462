// Blocks of rows: products kept, walked over, and summed again.
#include "dsl/lower/RowBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Rows that lie a power of two apart would meet in the same sets of a cache.
static constexpr std::int64_t rowSkew = 16;

RowBlockBuilder::RowBlockBuilder(Emitter &emitter, const KernelModel &model,
                                 const RowBlocks &blocks,
                                 const TargetInfo &target,
                                 ArrayRef<qn::StoreOp> stores,
                                 std::int64_t workspaceStart,
                                 OpBuilder &builder)
    : emitter(emitter), model(model), blocks(blocks), target(target),
      stores(stores), workspaceStart(workspaceStart), builder(builder),
      loc(model.kernel.getLoc()), scores(emitter, model, blocks.scores, target,
                                         stores, workspaceStart, builder) {
  for (const KeptSums &kept : blocks.sums)
    sums.emplace_back(emitter, model, kept.tiling, target, stores,
                      workspaceStart, builder);
}

Value RowBlockBuilder::start(Frame &frame, unsigned ofSums) {
  Value bytes = behindStaged(emitter, frame, workspaceStart);
  if (blocks.inPlace)
    return bytes;
  if (ofSums > 0)
    bytes = binary(frame, '+', bytes, scores.columnBytes(frame));
  for (unsigned before = 0; before + 1 < ofSums; ++before)
    bytes = binary(frame, '+', bytes, sums[before].columnBytes(frame));
  return bytes;
}

Value RowBlockBuilder::workspace(Frame &frame) {
  return start(frame, sums.size() + 1);
}

Value RowBlockBuilder::stride(Frame &frame) {
  std::int64_t width = blocks.scores.width();
  Value more = number(frame, width - 1), by = number(frame, width);
  Value extent = emitter.extent(frame, blocks.inner());
  Value panels = binary(frame, '/', binary(frame, '+', extent, more), by);
  return binary(frame, '+', binary(frame, '*', panels, by),
                number(frame, rowSkew));
}

Value RowBlockBuilder::ownWorkspace(Frame &frame) {
  std::int64_t bytes = blocks.scores.element.getIntOrFloatBitWidth() / 8;
  std::int64_t rows = blocks.rowBlock() * bytes;
  Value lines = number(frame, buffers() * rows);
  Value results = number(frame, blocks.results.size() * rows);
  return binary(frame, '+', binary(frame, '*', stride(frame), lines), results);
}

void RowBlockBuilder::packColumns(Frame &frame, unsigned ofSums,
                                  unsigned product, Value panel) {
  ContractionBuilder &of = ofSums ? sums[ofSums - 1] : scores;
  of.packColumnPanel(frame, product, panel, start(frame, ofSums));
}

void RowBlockBuilder::makeBuffers(Frame &root, Value ownMemory) {
  const Tiling &tiling = blocks.scores;
  if (!blocks.inPlace)
    rowBuffer =
        scores.room(root, tiling.rowBlock * (tiling.depth + tiling.lanes));
  for (auto [builder, kept] : llvm::zip(sums, blocks.sums)) {
    builder.sumLine = blocks.inPlace ? lineInPlace : tiling.width();
    std::int64_t size = tiling.rowBlock * builder.sumLine + tiling.lanes;
    for (unsigned i = 0; i < kept.tiling.products.size(); ++i)
      builder.sumBuffers.push_back(builder.room(root, size));
  }
  own = ownMemory;
}

/// The rows kept for a score, or behind the scores for a kept value.
Value RowBlockBuilder::buffer(Frame &frame, unsigned which) {
  Value rows = number(frame, which * blocks.rowBlock());
  return scores.element(frame, own, binary(frame, '*', rows, stride(frame)));
}

/// The place of what a reduction gives for a row of the block.
Value RowBlockBuilder::result(Frame &frame, unsigned which, Value row) {
  Value before = number(frame, which * blocks.rowBlock());
  return scores.element(frame, buffer(frame, buffers()),
                        binary(frame, '+', before, row));
}

/// From now on uses of a value read what was kept of it.
void RowBlockBuilder::replace(Value value, unsigned which, Block rows) {
  Buffered kept;
  llvm::append_range(kept.rows, scores.rows.list());
  kept.inner = blocks.inner();
  kept.first = rows.lower;
  kept.pointer = [this, which](Frame &frame, Value row, Value column) {
    Value line = binary(frame, '*', row, stride(frame));
    return scores.element(frame, buffer(frame, which),
                          binary(frame, '+', line, column));
  };
  emitter.buffered[value] = std::move(kept);
}

void RowBlockBuilder::replaceResult(Value value, unsigned which, Block rows) {
  Buffered kept;
  llvm::append_range(kept.rows, scores.rows.list());
  kept.first = rows.lower;
  kept.pointer = [this, which](Frame &frame, Value row, Value /*column*/) {
    return result(frame, which, row);
  };
  emitter.buffered[value] = std::move(kept);
}

/// The first position behind an upper bound for a row, or within a lower one.
Value RowBlockBuilder::boundAt(Frame &frame, const InnerBound &bound,
                               bool isBehind, Value row) {
  Frame at = Frame::inside(frame, frame.block);
  at.anchor = frame.anchor;
  scores.rows.bind(at, row);
  Value place = emitter.emit(at, bound.value, 0);
  if (isBehind)
    place = binary(at, '+', place, number(at, 1));
  place = binary(at, '>', place, number(at, 0));
  return binary(at, '<', place, emitter.extent(at, blocks.inner()));
}

/// What a bound gives for a block, or `otherwise` where a row axis that is
/// slower than the bound's steps on within it.
Value RowBlockBuilder::unlessStepped(Frame &frame, const InnerBound &bound,
                                     Block rows, Value place, Value otherwise) {
  if (bound.along.empty())
    return place;
  Value length = FlatAxes(emitter, model, bound.along).extent(frame);
  length = binary(frame, '>', length, number(frame, 1));
  Value last = binary(frame, '-', rows.upper, number(frame, 1));
  Value first = binary(frame, '/', rows.lower, length);
  last = binary(frame, '/', last, length);
  OpBuilder &b = emitter.in(frame);
  Value isOne =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, first, last);
  return arith::SelectOp::create(b, loc, isOne, place, otherwise);
}

/// What the block's reductions look at of the inner axis, from the begin of a
/// register tile on.
RowBlockBuilder::Block RowBlockBuilder::innerRange(Frame &frame, Block rows) {
  Block inner{number(frame, 0), emitter.extent(frame, blocks.inner())};
  if (const InnerBound &bound = blocks.lower; bound.value) {
    Value width = number(frame, blocks.scores.width());
    Value first = boundAt(frame, bound, !bound.inclusive, rows.lower);
    first = unlessStepped(frame, bound, rows, first, number(frame, 0));
    inner.lower = binary(frame, '*', binary(frame, '/', first, width), width);
  }
  if (const InnerBound &bound = blocks.upper; bound.value) {
    Value last = binary(frame, '-', rows.upper, number(frame, 1));
    Value end = boundAt(frame, bound, bound.inclusive, last);
    inner.upper = unlessStepped(frame, bound, rows, end, inner.upper);
    inner.upper = binary(frame, '>', inner.upper, inner.lower);
  }
  return inner;
}

/// Whether a store has all columns of such sums, and not what they remove.
bool RowBlockBuilder::isOver(qn::StoreOp store, unsigned which) const {
  AxisSet axes = model.axesOf(store.getTensor().getType());
  return !hasAxis(axes, blocks.inner()) &&
         llvm::all_of(blocks.sums[which].tiling.columns,
                      [&](unsigned axis) { return hasAxis(axes, axis); });
}

void RowBlockBuilder::unit(Frame &frame, Value rowBlock, Stores storeRest) {
  Block rows = scores.range(frame, scores.rows, rowBlock,
                            number(frame, blocks.rowBlock()));
  Block inner = innerRange(frame, rows);
  emitter.limits[blocks.inner()] = inner.upper;
  unsigned count = blocks.inPlace ? 0 : blocks.scores.products.size();
  for (unsigned which = 0; which < count; ++which)
    score(frame, which, rows, inner);
  if (blocks.inPlace)
    scoreInPlace(frame, rows, inner);
  for (auto [which, product] : llvm::enumerate(blocks.scores.products))
    replace(product.op->getResult(0), which, rows);
  if (!blocks.kept.empty())
    keepRows(frame, rows, inner);
  SmallVector<qn::StoreOp> rest(stores);
  for (unsigned which = 0; which < sums.size(); ++which) {
    auto isSummed = [&](qn::StoreOp store) { return isOver(store, which); };
    auto summed = llvm::filter_to_vector(rest, isSummed);
    if (!summed.empty() && blocks.inPlace)
      sumInPlace(frame, which, summed, rows, inner);
    else if (!summed.empty())
      sumUp(frame, which, summed, rows, inner);
    llvm::erase_if(rest, isSummed);
  }
  emitter.limits.clear();
  if (!rest.empty())
    scores.rows.each(frame, rows.lower, rows.upper,
                     [&](Frame &at, Value) { storeRest(at, rest); });
  emitter.buffered.clear();
}

/// One score for the block's rows and these inner positions.
void RowBlockBuilder::score(Frame &frame, unsigned which, Block rows,
                            Block inner) {
  const Product &product = blocks.scores.products[which];
  Value zero = number(frame, 0), one = number(frame, 1);
  Value depth = FlatAxes(emitter, model, product.sums).extent(frame);
  Value most = binary(frame, '>', depth, one);
  Value packed = scores.packedColumns(frame, which, start(frame, 0));
  scores.loop(
      frame, zero, most, blocks.scores.depth, [&](Frame &at, Value from) {
        Value to = binary(at, '+', from, number(at, blocks.scores.depth));
        to = binary(at, '<', to, depth);
        packRows(at, product, rows, {from, to});
        ContractionBuilder::TileAt tile;
        tile.rowStep = one;
        tile.deepStep = number(at, blocks.scores.height);
        tile.sumStep = stride(at);
        tile.count = scores.words(at, binary(at, '-', to, from));
        tile.isFirst = arith::CmpIOp::create(
            emitter.in(at), loc, arith::CmpIPredicate::eq, from, zero);
        Value skip = binary(at, '*', scores.words(at, from),
                            number(at, blocks.scores.width()));
        tile.columns = scores.element(at, packed, skip);
        Value count = binary(at, '-', rows.upper, rows.lower);
        scoreTiles(at, which, count, tile, inner);
      });
}

/// Packs the block's rows of a factor, panel by panel.
void RowBlockBuilder::packRows(Frame &frame, const Product &product, Block rows,
                               Block depth) {
  std::int64_t height = blocks.scores.height;
  std::int64_t panel = blocks.scores.depth + blocks.scores.lanes;
  scores.loop(frame, rows.lower, rows.upper, height,
              [&](Frame &at, Value lower) {
                Value upper = binary(at, '+', lower, number(at, height));
                upper = binary(at, '<', upper, rows.upper);
                Value skip = binary(at, '-', lower, rows.lower);
                skip = binary(at, '*', skip, number(at, panel));
                scores.pack(at, product, /*ofRows=*/true, {lower, upper}, depth,
                            scores.element(at, rowBuffer, skip));
              });
}

void RowBlockBuilder::scoreTiles(Frame &frame, unsigned which, Value count,
                                 ContractionBuilder::TileAt tile, Block inner) {
  const Tiling &tiling = blocks.scores;
  Value zero = number(frame, 0);
  Value panelSize = scores.columnPanelElements(frame, tiling.products[which]);
  Value kept = buffer(frame, which);
  Value columns = tile.columns;
  scores.loop(
      frame, inner.lower, inner.upper, tiling.width(),
      [&](Frame &outer, Value column) {
        Value panel = binary(outer, '/', column, number(outer, tiling.width()));
        Value at = binary(outer, '*', panel, panelSize);
        tile.columns = scores.element(outer, columns, at);
        scores.loop(
            outer, zero, count, tiling.height, [&](Frame &last, Value row) {
              Value skip = number(last, tiling.depth + tiling.lanes);
              skip = binary(last, '*', row, skip);
              tile.rows = scores.element(last, rowBuffer, skip);
              Value line = binary(last, '*', row, tile.sumStep);
              tile.sums =
                  scores.element(last, kept, binary(last, '+', line, column));
              scores.tile(last, tile);
            });
      });
}

/// Numbers of the kept values in the order of the text: one that is made of
/// another reads it back.
static SmallVector<unsigned> inOrder(ArrayRef<KeptValue> kept) {
  auto numbers = llvm::to_vector(llvm::seq<unsigned>(kept.size()));
  llvm::sort(numbers, [&](unsigned left, unsigned right) {
    Operation *first = kept[left].value.getDefiningOp();
    Operation *second = kept[right].value.getDefiningOp();
    return first && second && first != second ? first->isBeforeInBlock(second)
                                              : left < right;
  });
  return numbers;
}

/// Writes what is kept of each of the block's rows, and what its reductions
/// give.
void RowBlockBuilder::keepRows(Frame &frame, Block rows, Block inner) {
  scores.rows.each(frame, rows.lower, rows.upper, [&](Frame &at, Value row) {
    row = binary(at, '-', row, rows.lower);
    Value line = binary(at, '*', row, stride(at));
    unsigned place = blocks.scores.products.size();
    for (unsigned which : inOrder(blocks.kept)) {
      keep(at, which, line, inner);
      if (blocks.kept[which].replaces)
        replace(blocks.kept[which].value, place + which, rows);
    }
    for (auto [which, value] : llvm::enumerate(blocks.results))
      emitter.write(at, result(at, which, row), emitter.emit(at, value, 0),
                    value.getType(), Value());
  });
  for (auto [which, value] : llvm::enumerate(blocks.results))
    replaceResult(value, which, rows);
}

Value RowBlockBuilder::orZero(Frame &frame, Value where, Value value) {
  OpBuilder &b = emitter.in(frame);
  Value none =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::SelectOp::create(b, loc, where, value, none);
}

/// A whole vector of numbers that are rounded to be of pairs is rounded as
/// those take numbers: what is below the normal ones is zero to them.
Value RowBlockBuilder::valueToKeep(Frame &frame, const KeptValue &kept,
                                   Copies copies, unsigned lanes) {
  auto rounding = kept.value.getDefiningOp<arith::TruncFOp>();
  if (!kept.isPaired() || !rounding || lanes != blocks.scores.lanes)
    return emitter.wide(frame, kept.value, copies, lanes);
  Value exact = emitter.wide(frame, rounding.getIn(), copies, lanes);
  OpBuilder &b = emitter.in(frame);
  auto rounded = LLVM::CallIntrinsicOp::create(
      b, loc, VectorType::get({lanes}, b.getBF16Type()),
      b.getStringAttr("llvm.x86.avx512bf16.cvtneps2bf16.512"),
      ValueRange{exact});
  return rounded->getResult(0);
}

/// Writes one kept value of a row.
void RowBlockBuilder::keep(Frame &frame, unsigned which, Value line,
                           Block inner) {
  const KeptValue &kept = blocks.kept[which];
  Value base = buffer(frame, blocks.scores.products.size() + which);
  base = scores.element(frame, base, line);
  AxisPlan plan{.axis = blocks.inner(), .lanes = blocks.scores.lanes};
  auto write = [&](Frame &at, Copies copies) {
    unsigned lanes = at.find(blocks.inner())->lanes;
    Value value = valueToKeep(at, kept, copies, lanes);
    if (kept.where)
      value = orZero(at, emitter.wide(at, kept.where, copies, lanes), value);
    // A pair's second element may lie behind the last one.
    if (Value mask = at.find(blocks.inner())->mask; mask && kept.isPaired())
      value = orZero(at, mask, value);
    Value column = emitter.position(at, blocks.inner(), copies);
    Type type = kept.value.getType();
    Value to = LLVM::GEPOp::create(emitter.in(at), loc, base.getType(), type,
                                   base, ArrayRef<LLVM::GEPArg>{column});
    emitter.write(at, to, value, type, Value());
  };
  Emitter::Values none;
  emitter.nest(frame, {LoopSpec{plan, inner.lower, inner.upper}}, none,
               [&](Frame &at, Emitter::Values &) {
                 for (Copies copies :
                      emitter.copiesOf(at, axisBit(blocks.inner())))
                   write(at, copies);
               });
}

/// The stores of sums over the inner axis, panel by panel of their columns.
void RowBlockBuilder::sumUp(Frame &frame, unsigned which,
                            ArrayRef<qn::StoreOp> summed, Block rows,
                            Block inner) {
  const Tiling &tiling = blocks.sums[which].tiling;
  ContractionBuilder &of = sums[which];
  scores.loop(frame, number(frame, 0), of.columns.extent(frame), tiling.width(),
              [&](Frame &at, Value lower) {
                Value width = number(at, tiling.width());
                Value panel = binary(at, '/', lower, width);
                for (unsigned i = 0; i < tiling.products.size(); ++i)
                  sumPanel(at, which, i, rows, panel, inner);
                of.epilogue(at, summed, rows,
                            of.range(at, of.columns, panel, width));
              });
}

/// One panel of columns of a sum over the inner axis, its rows read from what
/// was kept.
void RowBlockBuilder::sumPanel(Frame &frame, unsigned which, unsigned product,
                               Block rows, Value panel, Block inner) {
  const Tiling &tiling = blocks.sums[which].tiling;
  ContractionBuilder &of = sums[which];
  Value zero = number(frame, 0), one = number(frame, 1);
  // Sums of nothing are made, too.
  Value most = binary(frame, '+', inner.lower, one);
  most = binary(frame, '>', inner.upper, most);
  Value columns = of.packedColumns(frame, product, start(frame, which + 1));
  Value size = of.columnPanelElements(frame, tiling.products[product]);
  columns = of.element(frame, columns, binary(frame, '*', panel, size));
  unsigned factor = blocks.sums[which].factors[product];
  Value kept = buffer(frame, blocks.scores.products.size() + factor);
  Value count = binary(frame, '-', rows.upper, rows.lower);
  Value begin = inner.lower, end = inner.upper;
  scores.loop(frame, begin, most, tiling.depth, [&](Frame &at, Value from) {
    Value to = binary(at, '+', from, number(at, tiling.depth));
    to = binary(at, '<', to, end);
    ContractionBuilder::TileAt tile;
    tile.rowStep = stride(at);
    tile.deepStep = one;
    tile.sumStep = number(at, tiling.width());
    tile.count = of.words(at, binary(at, '-', to, from));
    tile.isFirst = arith::CmpIOp::create(emitter.in(at), loc,
                                         arith::CmpIPredicate::eq, from, begin);
    Value before = of.words(at, from);
    Value skip = binary(at, '*', before, number(at, tiling.width()));
    tile.columns = of.element(at, columns, skip);
    scores.loop(at, zero, count, tiling.height, [&](Frame &last, Value row) {
      Value line = binary(last, '*', row, tile.rowStep);
      tile.rows = of.element(last, kept, binary(last, '+', line, before));
      Value sum = binary(last, '*', row, tile.sumStep);
      tile.sums = of.element(last, of.sumBuffers[product], sum);
      of.tile(last, tile);
    });
  });
}
