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
    : emitter(emitter), model(model), blocks(blocks), stores(stores),
      workspaceStart(workspaceStart), builder(builder),
      loc(model.kernel.getLoc()), scores(emitter, model, blocks.scores, target,
                                         stores, workspaceStart, builder) {
  if (!blocks.values.products.empty())
    sums.emplace(emitter, model, blocks.values, target, stores, workspaceStart,
                 builder);
}

Value RowBlockBuilder::start(Frame &frame, bool ofValues) {
  Value first = behindStaged(emitter, frame, workspaceStart);
  return ofValues ? binary(frame, '+', first, scores.columnBytes(frame))
                  : first;
}

Value RowBlockBuilder::workspace(Frame &frame) {
  Value bytes = start(frame, true);
  return sums ? binary(frame, '+', bytes, sums->columnBytes(frame)) : bytes;
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
  std::int64_t buffers = blocks.scores.products.size() + blocks.kept.size();
  std::int64_t bytes = blocks.scores.element.getIntOrFloatBitWidth() / 8;
  Value each = number(frame, buffers * blocks.rowBlock() * bytes);
  return binary(frame, '*', stride(frame), each);
}

void RowBlockBuilder::packColumns(Frame &frame, bool ofValues, unsigned product,
                                  Value panel) {
  ContractionBuilder &of = ofValues ? *sums : scores;
  of.packColumnPanel(frame, product, panel, start(frame, ofValues));
}

void RowBlockBuilder::makeBuffers(Frame &root, Value worker) {
  const Tiling &tiling = blocks.scores;
  rowBuffer =
      scores.room(root, tiling.rowBlock * (tiling.depth + tiling.lanes));
  if (sums)
    for (unsigned i = 0; i < blocks.values.products.size(); ++i)
      sums->sumBuffers.push_back(
          sums->room(root, tiling.rowBlock * tiling.width() + tiling.lanes));
  Value skip = binary(root, '*', worker, ownWorkspace(root));
  skip = binary(root, '+', skip, workspace(root));
  Type type = LLVM::LLVMPointerType::get(builder.getContext());
  Value base = emitter.word(root, Packet::workspaceWord, type);
  own = LLVM::GEPOp::create(emitter.in(root), loc, type, builder.getI8Type(),
                            base, ArrayRef<LLVM::GEPArg>{skip});
}

/// The rows kept for a score, or behind the scores for a kept value.
Value RowBlockBuilder::buffer(Frame &frame, unsigned which) {
  Value rows = number(frame, which * blocks.rowBlock());
  return scores.element(frame, own, binary(frame, '*', rows, stride(frame)));
}

/// From now on uses of a value read what was kept of it.
void RowBlockBuilder::replace(Value value, unsigned which, Block rows) {
  Emitter::Buffered kept;
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

/// The end of what the block's reductions look at along the inner axis.
Value RowBlockBuilder::innerEnd(Frame &frame, Block rows) {
  Value extent = emitter.extent(frame, blocks.inner());
  if (!blocks.bound.value)
    return extent;
  Frame last = Frame::inside(frame, frame.block);
  last.anchor = frame.anchor;
  Value row = binary(last, '-', rows.upper, number(last, 1));
  scores.rows.bind(last, row);
  Value end = emitter.emit(last, blocks.bound.value, 0);
  if (blocks.bound.inclusive)
    end = binary(last, '+', end, number(last, 1));
  end = binary(last, '>', end, number(last, 0));
  return binary(last, '<', end, extent);
}

void RowBlockBuilder::unit(Frame &frame, Value rowBlock, Stores storeRest) {
  Block rows = scores.range(frame, scores.rows, rowBlock,
                            number(frame, blocks.rowBlock()));
  Value end = innerEnd(frame, rows);
  emitter.limits[blocks.inner()] = end;
  unsigned which = 0;
  for (; which < blocks.scores.products.size(); ++which)
    score(frame, which, rows, end);
  for (auto [number, product] : llvm::enumerate(blocks.scores.products))
    replace(product.op->getResult(0), number, rows);
  for (const KeptValue &kept : blocks.kept) {
    keep(frame, which - blocks.scores.products.size(), rows, end);
    if (kept.replaces)
      replace(kept.value, which, rows);
    ++which;
  }
  SmallVector<qn::StoreOp> rest;
  AxisSet columns;
  for (unsigned axis : blocks.values.columns)
    columns |= axisBit(axis);
  SmallVector<qn::StoreOp> summed;
  for (qn::StoreOp store : stores) {
    AxisSet axes = model.axesOf(store.getTensor().getType());
    bool whole =
        columns && !(columns & ~axes) && !hasAxis(axes, blocks.inner());
    (whole ? summed : rest).push_back(store);
  }
  if (sums && !summed.empty())
    scores.loop(frame, number(frame, 0), sums->columns.extent(frame),
                blocks.values.width(), [&](Frame &at, Value lower) {
                  Value width = number(at, blocks.values.width());
                  Value panel = binary(at, '/', lower, width);
                  for (unsigned i = 0; i < blocks.values.products.size(); ++i)
                    value(at, i, rows, panel, end);
                  Block range = sums->range(at, sums->columns, panel, width);
                  sums->epilogue(at, summed, rows, range);
                });
  emitter.limits.clear();
  if (!rest.empty())
    scores.rows.each(frame, rows.lower, rows.upper,
                     [&](Frame &at, Value) { storeRest(at, rest); });
  emitter.buffered.clear();
}

/// One score for the block's rows and all inner positions up to `end`.
void RowBlockBuilder::score(Frame &frame, unsigned which, Block rows,
                            Value end) {
  const Product &product = blocks.scores.products[which];
  Value zero = number(frame, 0), one = number(frame, 1);
  Value depth = FlatAxes(emitter, model, product.sums).extent(frame);
  Value most = binary(frame, '>', depth, one);
  Value packed = scores.packedColumns(frame, which, start(frame, false));
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
        scoreTiles(at, which, count, tile, end);
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
                                 ContractionBuilder::TileAt tile, Value end) {
  const Tiling &tiling = blocks.scores;
  Value zero = number(frame, 0);
  Value panelSize = scores.columnPanelElements(frame, tiling.products[which]);
  Value kept = buffer(frame, which);
  Value columns = tile.columns;
  scores.loop(
      frame, zero, end, tiling.width(), [&](Frame &outer, Value column) {
        Value panel = binary(outer, '/', column, number(outer, tiling.width()));
        Value at = binary(outer, '*', panel, panelSize);
        tile.columns = scores.element(outer, columns, at);
        scores.loop(
            outer, zero, count, tiling.height, [&](Frame &inner, Value row) {
              Value skip = number(inner, tiling.depth + tiling.lanes);
              skip = binary(inner, '*', row, skip);
              tile.rows = scores.element(inner, rowBuffer, skip);
              Value line = binary(inner, '*', row, tile.sumStep);
              tile.sums =
                  scores.element(inner, kept, binary(inner, '+', line, column));
              scores.tile(inner, tile);
            });
      });
}

/// Writes one kept value for the block's rows.
void RowBlockBuilder::keep(Frame &frame, unsigned which, Block rows,
                           Value end) {
  const KeptValue &kept = blocks.kept[which];
  unsigned place = blocks.scores.products.size() + which;
  Value base = buffer(frame, place);
  Type type = blocks.scores.element;
  auto write = [&](Frame &at, Value line) {
    for (Copies copies : emitter.copiesOf(at, axisBit(blocks.inner()))) {
      unsigned lanes = at.find(blocks.inner())->lanes;
      Value value = emitter.wide(at, kept.value, copies, lanes);
      if (kept.where) {
        Value where = emitter.wide(at, kept.where, copies, lanes);
        Value none = arith::ConstantOp::create(
            emitter.in(at), loc, builder.getZeroAttr(value.getType()));
        value =
            arith::SelectOp::create(emitter.in(at), loc, where, value, none);
      }
      Value column = emitter.position(at, blocks.inner(), copies);
      Value to = scores.element(at, base, binary(at, '+', line, column));
      emitter.write(at, to, value, type, Value());
    }
  };
  scores.rows.each(frame, rows.lower, rows.upper, [&](Frame &at, Value row) {
    Value line = binary(at, '-', row, rows.lower);
    line = binary(at, '*', line, stride(at));
    AxisPlan plan{.axis = blocks.inner(), .lanes = blocks.scores.lanes};
    Value zero = number(at, 0);
    Emitter::Values none;
    emitter.nest(at, {LoopSpec{plan, zero, end}}, none,
                 [&](Frame &lane, Emitter::Values &) { write(lane, line); });
  });
}

/// One panel of columns of a sum over the inner axis, its rows read from what
/// was kept.
void RowBlockBuilder::value(Frame &frame, unsigned which, Block rows,
                            Value panel, Value end) {
  const Tiling &tiling = blocks.values;
  Value zero = number(frame, 0), one = number(frame, 1);
  Value most = binary(frame, '>', end, one);
  Value columns = sums->packedColumns(frame, which, start(frame, true));
  Value size = sums->columnPanelElements(frame, tiling.products[which]);
  columns = sums->element(frame, columns, binary(frame, '*', panel, size));
  Value kept =
      buffer(frame, blocks.scores.products.size() + blocks.factors[which]);
  Value count = binary(frame, '-', rows.upper, rows.lower);
  scores.loop(frame, zero, most, tiling.depth, [&](Frame &at, Value from) {
    Value to = binary(at, '+', from, number(at, tiling.depth));
    to = binary(at, '<', to, end);
    ContractionBuilder::TileAt tile;
    tile.rowStep = stride(at);
    tile.deepStep = one;
    tile.sumStep = number(at, tiling.width());
    tile.count = binary(at, '-', to, from);
    tile.isFirst = arith::CmpIOp::create(emitter.in(at), loc,
                                         arith::CmpIPredicate::eq, from, zero);
    Value skip = binary(at, '*', from, number(at, tiling.width()));
    tile.columns = sums->element(at, columns, skip);
    scores.loop(at, zero, count, tiling.height, [&](Frame &inner, Value row) {
      Value line = binary(inner, '*', row, tile.rowStep);
      tile.rows = sums->element(inner, kept, binary(inner, '+', line, from));
      Value sum = binary(inner, '*', row, tile.sumStep);
      tile.sums = sums->element(inner, sums->sumBuffers[which], sum);
      sums->tile(inner, tile);
    });
  });
}
