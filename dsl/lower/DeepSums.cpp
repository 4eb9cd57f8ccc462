// Few rows and columns over a long sum: its parts are summed apart, by all
// threads, and added up in their order.
#include "dsl/cost/Parameters.h"
#include "dsl/lower/Contract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// A part packs its own rows and columns; those of a merge have the sums of a
/// panel of rows.
void ContractionBuilder::makeDeepBuffers(Frame &root, LaunchKind kind) {
  if (kind == LaunchKind::SumMerge) {
    std::int64_t elements = tiling.height * tiling.blockWidth();
    sumBuffers.push_back(room(root, elements + tiling.lanes));
    return;
  }
  std::int64_t panels = llvm::divideCeil(cost::smallRowBlock, tiling.height);
  rowBuffer = room(root, panels * rowPanelRoom());
  columnBuffer = room(root, panelRoom() * tiling.panels);
}

/// A window is cut along the axis that bounds nothing, images mostly: what a
/// part reads again and again stays in the caches.
Value ContractionBuilder::partedExtent(Frame &frame) {
  const Product &product = tiling.products[0];
  if (product.window)
    return FlatAxes(emitter, model, product.sums.back()).extent(frame);
  return sumsOf(product).extent(frame);
}

/// How many parts there are.
Value ContractionBuilder::parts(Frame &frame) {
  Value size = emitter.emit(frame, tiling.part, 0);
  Value more = binary(frame, '-', size, number(frame, 1));
  more = binary(frame, '+', partedExtent(frame), more);
  return binary(frame, '/', more, size);
}

/// Elements from a row of a part's sums to the next.
Value ContractionBuilder::paddedColumns(Frame &frame) {
  return binary(frame, '*', columnPanels(frame), number(frame, tiling.width()));
}

Value ContractionBuilder::partElements(Frame &frame) {
  Value lines = binary(frame, '*', panels(frame), number(frame, tiling.height));
  return binary(frame, '*', lines, paddedColumns(frame));
}

Value ContractionBuilder::deepWorkspace(Frame &frame) {
  std::int64_t size = tiling.element.getIntOrFloatBitWidth() / 8;
  Value count = binary(frame, '*', batch.extent(frame), parts(frame));
  Value each = binary(frame, '*', partElements(frame), number(frame, size));
  return binary(frame, '+', binary(frame, '*', count, each),
                behindStaged(emitter, frame, workspaceStart));
}

/// Where the sums of a part lie, for the bound position of the batch.
Value ContractionBuilder::sumsOfPart(Frame &frame, Value part) {
  Value base =
      emitter.inWorkspace(frame, behindStaged(emitter, frame, workspaceStart));
  Value before = binary(frame, '*', batch.flattened(frame), parts(frame));
  before = binary(frame, '+', before, part);
  return element(frame, base, binary(frame, '*', before, partElements(frame)));
}

/// Packs all rows for a block of the depth.
void ContractionBuilder::packRows(Frame &frame, Block depth) {
  Value height = number(frame, tiling.height);
  loop(frame, number(frame, 0), rows.extent(frame), tiling.height,
       [&](Frame &at, Value lower) {
         Value upper = binary(at, '+', lower, height);
         upper = binary(at, '<', upper, rows.extent(at));
         Value panel = binary(at, '/', lower, height);
         panel = binary(at, '*', panel, number(at, rowPanelRoom()));
         packBlock(at, 0, /*ofRows=*/true, {lower, upper}, depth,
                   element(at, rowBuffer, panel));
       });
}

/// The steps of a part; of a window, those of the images it has.
ContractionBuilder::Block ContractionBuilder::partAt(Frame &frame, Value which,
                                                     Value size) {
  const Product &product = tiling.products[0];
  Value lower = binary(frame, '*', which, size);
  Value upper = binary(frame, '+', lower, size);
  upper = binary(frame, '<', upper, partedExtent(frame));
  if (!product.window)
    return {lower, upper};
  part = Block{lower, binary(frame, '-', upper, lower)};
  return {number(frame, 0), sumsOf(product).extent(frame)};
}

void ContractionBuilder::sumPart(Frame &frame, Value which, Value size) {
  Value zero = number(frame, 0), wide = columns.extent(frame);
  Value to = sumsOfPart(frame, which), line = paddedColumns(frame);
  Block all = partAt(frame, which, size);
  loop(frame, all.lower, all.upper, tiling.depth, [&](Frame &at, Value lower) {
    Value upper = binary(at, '+', lower, number(at, tiling.depth));
    Block depth{lower, binary(at, '<', upper, all.upper)};
    packRows(at, depth);
    Value count = words(at, binary(at, '-', depth.upper, depth.lower));
    Value isFirst = arith::CmpIOp::create(in(at), loc, arith::CmpIPredicate::eq,
                                          lower, all.lower);
    loop(at, zero, wide, tiling.blockWidth(), [&](Frame &block, Value first) {
      Value last =
          binary(block, '+', first, number(block, tiling.blockWidth()));
      last = binary(block, '<', last, wide);
      packBlock(block, 0, /*ofRows=*/false, {first, last}, depth, columnBuffer);
      TileAt tile;
      tile.rows = rowBuffer;
      tile.columns = columnBuffer;
      tile.sums = element(block, to, first);
      tile.sumStep = line;
      tile.count = count;
      tile.isFirst = isFirst;
      Value width = binary(block, '-', last, first);
      tiles(block, {rows.extent(block), width}, tile,
            number(block, rowPanelRoom()));
    });
  });
}

/// A vector of the sums of every part, from `first` on, `step` elements apart.
Value ContractionBuilder::addedParts(Frame &frame, Value first, Value step) {
  Type type = VectorType::get({std::int64_t(tiling.lanes)}, tiling.element);
  Value none =
      arith::ConstantOp::create(in(frame), loc, builder.getZeroAttr(type));
  Value zero = number(frame, 0), one = number(frame, 1);
  Value count = parts(frame);
  auto loop = scf::ForOp::create(in(frame), loc, zero, count, one, none);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame inner = Frame::inside(frame, loop.getBody());
  Value from = binary(inner, '*', loop.getInductionVar(), step);
  Value next = emitter.read(inner, element(inner, first, from), tiling.element,
                            tiling.lanes, Value(), Value());
  next = arith::AddFOp::create(in(inner), loc, loop.getRegionIterArg(0), next);
  scf::YieldOp::create(in(inner), loc, next);
  frame.anchor = anchor;
  return loop.getResult(0);
}

void ContractionBuilder::mergeParts(Frame &frame, Value panel) {
  Value height = number(frame, tiling.height);
  Block rowRange = range(frame, rows, panel, height);
  Value zero = number(frame, 0), wide = columns.extent(frame);
  Value from = sumsOfPart(frame, zero), line = paddedColumns(frame);
  Value step = partElements(frame);
  loop(frame, zero, wide, tiling.blockWidth(), [&](Frame &block, Value first) {
    Value last = binary(block, '+', first, number(block, tiling.blockWidth()));
    Block columnRange{first, binary(block, '<', last, wide)};
    loop(block, rowRange.lower, rowRange.upper, 1, [&](Frame &at, Value row) {
      Value own = binary(at, '-', row, rowRange.lower);
      own = binary(at, '*', own, number(at, sumLine));
      Value to = element(at, sumBuffers[0], own);
      Value there = element(at, from, binary(at, '*', row, line));
      loop(at, columnRange.lower, columnRange.upper, tiling.lanes,
           [&](Frame &inner, Value column) {
             Value sum = addedParts(inner, element(inner, there, column), step);
             Value place = binary(inner, '-', column, columnRange.lower);
             emitter.write(inner, element(inner, to, place), sum,
                           tiling.element, Value());
           });
    });
    epilogue(block, stores, rowRange, columnRange);
  });
}
