// A unit of a contraction: blocks of packed factors through the register tile,
// then the stores.
#include "dsl/lower/Contract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

ContractionBuilder::ContractionBuilder(
    Emitter &emitter, const KernelModel &model, const Tiling &tiling,
    const TargetInfo &target, ArrayRef<qn::StoreOp> stores,
    std::int64_t workspaceStart, OpBuilder &builder)
    : batch(emitter, model, tiling.batch), rows(emitter, model, tiling.rows),
      columns(emitter, model, tiling.columns), sumLine(tiling.blockWidth()),
      emitter(emitter), model(model), tiling(tiling), target(target),
      stores(stores), workspaceStart(workspaceStart), builder(builder),
      loc(model.kernel.getLoc()) {}

Value ContractionBuilder::binary(Frame &frame, char op, Value a, Value b) {
  OpBuilder &at = in(frame);
  switch (op) {
  case '+':
    return arith::AddIOp::create(at, loc, a, b);
  case '-':
    return arith::SubIOp::create(at, loc, a, b);
  case '*':
    return arith::MulIOp::create(at, loc, a, b);
  case '/':
    return arith::DivUIOp::create(at, loc, a, b);
  case '<':
    return arith::MinSIOp::create(at, loc, a, b);
  default:
    assert(op == '>' && "an operation on positions");
    return arith::MaxSIOp::create(at, loc, a, b);
  }
}

void ContractionBuilder::loop(Frame &frame, Value lower, Value upper,
                              std::int64_t step,
                              llvm::function_ref<void(Frame &, Value)> body) {
  Value by = number(frame, step);
  auto made = scf::ForOp::create(in(frame), loc, lower, upper, by);
  made.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(frame.anchor, made);
  Frame inner = Frame::inside(frame, made.getBody());
  body(inner, made.getInductionVar());
  scf::YieldOp::create(in(inner), loc);
  frame.anchor = anchor;
}

Value ContractionBuilder::element(Frame &frame, Value base, Value offset) {
  OpBuilder &b = in(frame);
  return LLVM::GEPOp::create(b, loc, base.getType(), tiling.element, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value ContractionBuilder::words(Frame &frame, Value elements) {
  if (!tiling.pairs)
    return elements;
  Value more = binary(frame, '+', elements, number(frame, 1));
  return binary(frame, '/', more, number(frame, 2));
}

/// Panels of rows in one position of the batch.
Value ContractionBuilder::panels(Frame &frame) {
  Value more = number(frame, tiling.height - 1);
  Value height = number(frame, tiling.height);
  Value sum = binary(frame, '+', rows.extent(frame), more);
  return binary(frame, '/', sum, height);
}

/// Elements of one packed panel of rows. A transposed vector may reach past the
/// last summed element, so there is room for one more.
Value ContractionBuilder::panelElements(Frame &frame, const Product &product) {
  FlatAxes sums = sumsOf(product);
  Value room = number(frame, tiling.lanes);
  Value depth = binary(frame, '+', words(frame, sums.extent(frame)), room);
  return binary(frame, '*', depth, number(frame, tiling.height));
}

Value ContractionBuilder::workspace(Frame &frame) {
  Value bytes = behindStaged(emitter, frame, workspaceStart);
  Value count = binary(frame, '*', batch.extent(frame), panels(frame));
  Value size = number(frame, tiling.element.getIntOrFloatBitWidth() / 8);
  for (const Product &product : tiling.products) {
    Value each = binary(frame, '*', panelElements(frame, product), size);
    each = binary(frame, '*', each, count);
    bytes = binary(frame, '+', bytes, each);
  }
  return bytes;
}

/// Where the packed rows of a product begin for the bound position of the
/// batch.
Value ContractionBuilder::packedRows(Frame &frame, unsigned which) {
  Value start = behindStaged(emitter, frame, workspaceStart);
  Value base = emitter.inWorkspace(frame, start);
  Value count = panels(frame);
  Value before = number(frame, 0);
  for (unsigned i = 0; i < which; ++i)
    before =
        binary(frame, '+', before, panelElements(frame, tiling.products[i]));
  Value offset = binary(frame, '*', before,
                        binary(frame, '*', count, batch.extent(frame)));
  Value own = binary(frame, '*', batch.flattened(frame), count);
  own = binary(frame, '*', own, panelElements(frame, tiling.products[which]));
  return element(frame, base, binary(frame, '+', offset, own));
}

void ContractionBuilder::packPanel(Frame &frame, unsigned which, Value panel) {
  const Product &product = tiling.products[which];
  Value height = number(frame, tiling.height), zero = number(frame, 0);
  Value lower = binary(frame, '*', panel, height);
  Value upper = binary(frame, '+', lower, height);
  upper = binary(frame, '<', upper, rows.extent(frame));
  Value depth = sumsOf(product).extent(frame);
  Value skip = binary(frame, '*', panel, panelElements(frame, product));
  Value base = element(frame, packedRows(frame, which), skip);
  packBlock(frame, which, /*ofRows=*/true, {lower, upper}, {zero, depth}, base);
}

/// Panels of columns in one position of the batch.
Value ContractionBuilder::columnPanels(Frame &frame) {
  Value more = number(frame, tiling.width() - 1);
  Value width = number(frame, tiling.width());
  Value sum = binary(frame, '+', columns.extent(frame), more);
  return binary(frame, '/', sum, width);
}

Value ContractionBuilder::columnPanelElements(Frame &frame,
                                              const Product &product) {
  FlatAxes sums = sumsOf(product);
  Value room = number(frame, tiling.lanes);
  Value depth = binary(frame, '+', words(frame, sums.extent(frame)), room);
  return binary(frame, '*', depth, number(frame, tiling.width()));
}

Value ContractionBuilder::columnBytes(Frame &frame) {
  Value count = binary(frame, '*', batch.extent(frame), columnPanels(frame));
  Value size = number(frame, tiling.element.getIntOrFloatBitWidth() / 8);
  Value bytes = number(frame, 0);
  for (const Product &product : tiling.products) {
    Value each = binary(frame, '*', columnPanelElements(frame, product), size);
    bytes = binary(frame, '+', bytes, binary(frame, '*', each, count));
  }
  return bytes;
}

Value ContractionBuilder::packedColumns(Frame &frame, unsigned which,
                                        Value start) {
  Value base = emitter.inWorkspace(frame, start);
  Value count = columnPanels(frame);
  Value before = number(frame, 0);
  for (unsigned i = 0; i < which; ++i)
    before = binary(frame, '+', before,
                    columnPanelElements(frame, tiling.products[i]));
  Value all = binary(frame, '*', count, batch.extent(frame));
  Value offset = binary(frame, '*', before, all);
  Value own = binary(frame, '*', batch.flattened(frame), count);
  own = binary(frame, '*', own,
               columnPanelElements(frame, tiling.products[which]));
  return element(frame, base, binary(frame, '+', offset, own));
}

void ContractionBuilder::packColumnPanel(Frame &frame, unsigned which,
                                         Value panel, Value start) {
  const Product &product = tiling.products[which];
  Value zero = number(frame, 0);
  Value depth = sumsOf(product).extent(frame);
  Value skip = binary(frame, '*', panel, columnPanelElements(frame, product));
  Value base = element(frame, packedColumns(frame, which, start), skip);
  pack(frame, product, /*ofRows=*/false,
       range(frame, columns, panel, number(frame, tiling.width())),
       {zero, depth}, base);
}

Value ContractionBuilder::room(Frame &root, std::int64_t elements) {
  return emitter.room(root, tiling.element, elements);
}

/// A block of packed columns, and the sums of every product for a unit.
void ContractionBuilder::makeBuffers(Frame &root, LaunchKind kind) {
  if (kind == LaunchKind::SumParts || kind == LaunchKind::SumMerge)
    return makeDeepBuffers(root, kind);
  columnBuffer = room(root, panelRoom() * tiling.panels);
  for (unsigned i = 0; i < tiling.products.size(); ++i)
    sumBuffers.push_back(
        room(root, tiling.rowBlock * tiling.blockWidth() + tiling.lanes));
}

ContractionBuilder::Block
ContractionBuilder::range(Frame &frame, FlatAxes &axes, Value at, Value step) {
  Value lower = binary(frame, '*', at, step);
  Value upper = binary(frame, '+', lower, step);
  return Block{lower, binary(frame, '<', upper, axes.extent(frame))};
}

void ContractionBuilder::unit(Frame &frame, Both at, Both size) {
  Block rowRange = range(frame, rows, at.rows, size.rows);
  Block columnRange = range(frame, columns, at.columns, size.columns);
  for (unsigned i = 0; i < tiling.products.size(); ++i)
    products(frame, i, rowRange, columnRange);
  epilogue(frame, stores, rowRange, columnRange);
}

/// Sums one product over all blocks of its depth; at least one block is walked,
/// so that sums of nothing are zero.
void ContractionBuilder::products(Frame &frame, unsigned which, Block rowRange,
                                  Block columnRange) {
  const Product &product = tiling.products[which];
  Value zero = number(frame, 0), one = number(frame, 1);
  Value step = number(frame, tiling.depth);
  Value height = number(frame, tiling.height);
  Value depth = sumsOf(product).extent(frame);
  Value packed = packedRows(frame, which);
  Value panelSize = panelElements(frame, product);
  Value firstPanel = binary(frame, '/', rowRange.lower, height);
  Value most = binary(frame, '>', depth, one);
  loop(frame, zero, most, tiling.depth, [&](Frame &block, Value from) {
    Value to = binary(block, '+', from, step);
    to = binary(block, '<', to, depth);
    packBlock(block, which, /*ofRows=*/false, columnRange, {from, to},
              columnBuffer);
    Value count = words(block, binary(block, '-', to, from));
    Value isFirst = arith::CmpIOp::create(in(block), loc,
                                          arith::CmpIPredicate::eq, from, zero);
    Value skip = binary(block, '*', words(block, from), height);
    skip = binary(block, '+', binary(block, '*', firstPanel, panelSize), skip);
    TileAt first;
    first.rows = element(block, packed, skip);
    first.columns = columnBuffer;
    first.sums = sumBuffers[which];
    first.sumStep = number(block, tiling.blockWidth());
    first.count = count;
    first.isFirst = isFirst;
    Both counts{binary(block, '-', rowRange.upper, rowRange.lower),
                binary(block, '-', columnRange.upper, columnRange.lower)};
    tiles(block, counts, first, panelSize);
  });
}

/// Where vector `number` of a tile's sums lies.
Value ContractionBuilder::sumVector(Frame &frame, const TileAt &at,
                                    unsigned which) {
  Value row = number(frame, which / tiling.vectors);
  Value vector = number(frame, which % tiling.vectors * tiling.lanes);
  Value offset = binary(frame, '*', row, at.sumStep);
  return element(frame, at.sums, binary(frame, '+', offset, vector));
}

/// What the register tile begins with: zeros, or the sums so far.
Emitter::Values ContractionBuilder::loadTile(Frame &frame, const TileAt &at,
                                             ArrayRef<Type> types, Begin zero,
                                             Begin load) {
  auto branch = scf::IfOp::create(in(frame), loc, types, at.isFirst, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  Frame no = Frame::inside(frame, branch.elseBlock());
  Values zeros, sums;
  for (unsigned i = 0; i < types.size(); ++i) {
    zeros.push_back(zero(yes, i));
    sums.push_back(load(no, i));
  }
  scf::YieldOp::create(in(yes), loc, zeros);
  scf::YieldOp::create(in(no), loc, sums);
  frame.anchor = anchor;
  return Values(branch.getResults());
}

Value ContractionBuilder::multiplyAdd(Frame &frame, Value row, Value column,
                                      Value sum) {
  OpBuilder &b = in(frame);
  if (tiling.pairs) {
    auto halves =
        VectorType::get({2 * std::int64_t(tiling.lanes)}, b.getBF16Type());
    row = LLVM::BitcastOp::create(b, loc, halves, row);
    column = LLVM::BitcastOp::create(b, loc, halves, column);
    return LLVM::CallIntrinsicOp::create(
               b, loc, sum.getType(),
               b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
               ValueRange{sum, row, column})
        ->getResult(0);
  }
  if (target.hasFma)
    return math::FmaOp::create(b, loc, row, column, sum);
  Value product = arith::MulFOp::create(b, loc, row, column);
  return arith::AddFOp::create(b, loc, sum, product);
}

/// Follows the summed axis, `step` of its words at a time: `meet` adds to the
/// sums what rows and columns give from there.
Emitter::Values ContractionBuilder::alongTile(Frame &frame, const TileAt &at,
                                              std::int64_t step, Values sums,
                                              Meet meet) {
  Value zero = number(frame, 0), stride = number(frame, step);
  auto loop = scf::ForOp::create(in(frame), loc, zero, at.count, stride, sums);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame inner = Frame::inside(frame, loop.getBody());
  Value deep = loop.getInductionVar();
  Value row = element(inner, at.rows, binary(inner, '*', deep, at.deepStep));
  Value column =
      element(inner, at.columns,
              binary(inner, '*', deep, number(inner, tiling.width())));
  Values next = meet(inner, row, column, Values(loop.getRegionIterArgs()));
  scf::YieldOp::create(in(inner), loc, next);
  frame.anchor = anchor;
  return Values(loop.getResults());
}

void ContractionBuilder::tile(Frame &frame, const TileAt &at) {
  return tiling.tiles ? matrixTile(frame, at) : vectorTile(frame, at);
}

/// The register tile in vectors: every vector of columns meets every row.
void ContractionBuilder::vectorTile(Frame &frame, const TileAt &at) {
  unsigned count = tiling.height * tiling.vectors;
  Type type = VectorType::get({std::int64_t(tiling.lanes)}, tiling.element);
  auto zero = [&](Frame &yes, unsigned) -> Value {
    return arith::ConstantOp::create(in(yes), loc, builder.getZeroAttr(type));
  };
  auto load = [&](Frame &no, unsigned which) {
    return emitter.read(no, sumVector(no, at, which), tiling.element,
                        tiling.lanes, Value(), Value());
  };
  auto meet = [&](Frame &inner, Value row, Value column, Values sums) {
    if (at.ahead) {
      Value ahead = element(inner, row, number(inner, at.ahead));
      LLVM::Prefetch::create(in(inner), loc, ahead, /*rw=*/0, /*hint=*/2,
                             /*cache=*/1);
    }
    Values vectors;
    for (unsigned v = 0; v < tiling.vectors; ++v)
      vectors.push_back(emitter.read(
          inner, element(inner, column, number(inner, v * tiling.lanes)),
          tiling.element, tiling.lanes, Value(), Value()));
    for (unsigned r = 0; r < tiling.height; ++r) {
      Value skip = binary(inner, '*', number(inner, r), at.rowStep);
      Value spread = emitter.read(inner, element(inner, row, skip),
                                  tiling.element, 1, Value(), Value());
      spread = emitter.widen(inner, spread, tiling.lanes);
      for (unsigned v = 0; v < tiling.vectors; ++v) {
        Value &sum = sums[r * tiling.vectors + v];
        sum = multiplyAdd(inner, spread, vectors[v], sum);
      }
    }
    return sums;
  };
  Values sums = loadTile(frame, at, SmallVector<Type>(count, type), zero, load);
  for (auto [i, sum] : llvm::enumerate(alongTile(frame, at, 1, sums, meet)))
    emitter.write(frame, sumVector(frame, at, i), sum, tiling.element, Value());
}

void ContractionBuilder::epilogue(Frame &frame, ArrayRef<qn::StoreOp> what,
                                  Block rowRange, Block columnRange) {
  auto inside = [&](Frame &at, Value row, Value firstColumn, Value flat) {
    Value line = binary(at, '-', row, rowRange.lower);
    line = binary(at, '*', line, number(at, sumLine));
    const Binding *lane = at.find(columns.last());
    Value place = binary(at, '-', lane->position, firstColumn);
    place = binary(at, '+', place, binary(at, '-', flat, columnRange.lower));
    epilogueAt(at, what, binary(at, '+', line, place));
  };
  AxisPlan plan{
      .axis = columns.last(), .lanes = tiling.lanes, .copies = tiling.vectors};
  columns.stretches(frame, columnRange.lower, columnRange.upper,
                    [&](Frame &outer, Value first, Value last, Value flat) {
                      rows.each(outer, rowRange.lower, rowRange.upper,
                                [&](Frame &at, Value row) {
                                  Values none;
                                  emitter.nest(
                                      at, {LoopSpec{plan, first, last}}, none,
                                      [&](Frame &lane, Values &) {
                                        inside(lane, row, first, flat);
                                      });
                                });
                    });
}

void ContractionBuilder::epilogueAt(Frame &at, ArrayRef<qn::StoreOp> what,
                                    Value offset) {
  const Binding *lane = at.find(columns.last());
  for (auto [i, product] : llvm::enumerate(tiling.products)) {
    Value base = element(at, sumBuffers[i], offset);
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.last()))) {
      std::int64_t skip =
          lane->copies > 1
              ? std::int64_t(copies >> (8 * lane->slot) & 0xff) * lane->lanes
              : 0;
      Value sum = emitter.read(at, element(at, base, number(at, skip)),
                               tiling.element, lane->lanes, Value(), Value());
      at.values[{product.op->getResult(0).getAsOpaquePointer(), copies}] = sum;
    }
  }
  emitter.emitStores(at, what);
}
