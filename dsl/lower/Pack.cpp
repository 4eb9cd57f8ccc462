// Copies a factor of a contraction into panels, computing it on the way.
#include "dsl/lower/Contract.h"
#include "dsl/lower/Turn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

void ContractionBuilder::pack(Frame &frame, const Product &product, bool ofRows,
                              Block panel, Block depth, Value base) {
  std::int64_t width = ofRows ? tiling.height : tiling.width();
  Panel to{base, panel.lower, depth.lower, width};
  if (!(ofRows ? product.turnRows : product.turnColumns)) {
    clearLastLine(frame, base, depth, width);
    return packAlong(frame, product, ofRows, panel, depth, to);
  }
  std::int64_t apart = ofRows && tiling.tiles ? tiling.lanes : 1;
  unsigned group = std::min<std::int64_t>(width, tiling.lanes);
  if (width % tiling.lanes && !llvm::isPowerOf2_64(width))
    group = llvm::alignTo(width, tiling.lanes);
  Value zero = number(frame, 0), end = number(frame, width);
  loop(frame, zero, end, group, [&](Frame &at, Value start) {
    Panel part = to;
    part.base = element(at, base, binary(at, '*', start, number(at, apart)));
    part.first = binary(at, '+', panel.lower, start);
    packTurned(at, product, ofRows, group, depth, part);
  });
}

/// Packs a block of several panels of columns. Neighbours are read together,
/// whatever panels they go to; else panel by panel.
void ContractionBuilder::packColumns(Frame &frame, const Product &product,
                                     Block range, Block depth, Value base) {
  Value skip = number(frame, panelRoom());
  if (!product.turnColumns && tiling.columns.size() == 1) {
    Panel to{base, range.lower, depth.lower, tiling.width(), skip};
    Value zero = number(frame, 0);
    Value end = number(frame, panelRoom() * tiling.panels);
    loop(frame, zero, end, panelRoom(), [&](Frame &at, Value panel) {
      clearLastLine(at, element(at, base, panel), depth, tiling.width());
    });
    return packAlong(frame, product, /*ofRows=*/false, range, depth, to);
  }
  Value width = number(frame, tiling.width());
  loop(frame, range.lower, range.upper, tiling.width(),
       [&](Frame &at, Value lower) {
         Value upper = binary(at, '+', lower, width);
         upper = binary(at, '<', upper, range.upper);
         Value panel = binary(at, '-', lower, range.lower);
         panel = binary(at, '*', binary(at, '/', panel, width), skip);
         pack(at, product, /*ofRows=*/false, {lower, upper}, depth,
              element(at, base, panel));
       });
}

/// Writes the bound lanes of one or, in pairs, two summed positions. `flat` is
/// the panel position of lane position `first`.
void ContractionBuilder::packLanes(Frame &at, const Product &product,
                                   bool ofRows, Panel to, Value flat,
                                   Value first, Value deep) {
  unsigned axis = (ofRows ? rows : columns).last();
  Value factor = ofRows ? product.rows : product.columns;
  bool inLines = ofRows && tiling.tiles;
  Value row = words(at, binary(at, '-', deep, to.from));
  row =
      inLines ? lineStart(at, row) : binary(at, '*', row, number(at, to.width));
  const Binding *sum = at.find(product.sums.back());
  const Binding *lane = at.find(axis);
  Value column = binary(at, '-', flat, to.first);
  for (Copies copies : emitter.copiesOf(at, axisBit(axis))) {
    Value place = emitter.position(at, axis, copies);
    place = binary(at, '-', place, first);
    place = binary(at, '+', place, column);
    if (to.next) {
      Value width = number(at, to.width);
      Value panel = binary(at, '/', place, width);
      place = binary(at, '-', place, binary(at, '*', panel, width));
      place = binary(at, '+', place, binary(at, '*', panel, to.next));
    }
    if (inLines)
      place = binary(at, '*', place, number(at, tiling.lanes));
    Value pointer = element(at, to.base, binary(at, '+', row, place));
    if (inLines)
      pointer = atLines(at, pointer);
    Value value = emitter.wide(at, factor, copies, lane->lanes);
    if (tiling.pairs) {
      Copies next = copies | Copies(1) << (8 * sum->slot);
      Value odd = sum->copies > 1 ? emitter.wide(at, factor, next, lane->lanes)
                                  : Value();
      value = paired(at, value, odd);
    }
    emitter.write(at, pointer, value, tiling.element, lane->mask);
  }
}

/// How lanes run along a panel.
static AxisPlan lanesAlong(FlatAxes &across, std::int64_t width,
                           const Tiling &tiling) {
  AxisPlan plan;
  plan.axis = across.last();
  plan.lanes = std::min<std::int64_t>(width, tiling.lanes);
  plan.copies = width / plan.lanes;
  return plan;
}

/// Lanes run along the panel, the summed axes that bound nothing inside: masks
/// are made once for all of their positions.
void ContractionBuilder::packWindow(Frame &frame, const Product &product,
                                    bool ofRows, Block panel, Block depth,
                                    Panel to) {
  FlatAxes &across = ofRows ? rows : columns;
  FlatAxes sums = sumsOf(product);
  AxisPlan plan = lanesAlong(across, to.width, tiling);
  auto body = [&](Frame &outer, Value first, Value last, Value flat) {
    LoopSpec lane{plan, first, last};
    sums.stretches(
        outer, depth.lower, depth.upper,
        [&](Frame &inner, Value from, Value until, Value deepest) {
          LoopSpec deep{AxisPlan{.axis = sums.last()}, from, until};
          Values none;
          emitter.ahead = {sums.last(), product.ahead};
          emitter.nest(inner, {lane, deep}, none, [&](Frame &at, Values &) {
            Value row = at.find(sums.last())->position;
            row = binary(at, '+', binary(at, '-', row, from), deepest);
            packLanes(at, product, ofRows, to, flat, first, row);
          });
          emitter.ahead = {};
        });
  };
  across.stretches(frame, panel.lower, panel.upper, body);
}

/// Lanes run along the panel, where neighbours of the factor lie.
void ContractionBuilder::packAlong(Frame &frame, const Product &product,
                                   bool ofRows, Block panel, Block depth,
                                   Panel to) {
  if (product.window)
    return packWindow(frame, product, ofRows, panel, depth, to);
  FlatAxes &across = ofRows ? rows : columns;
  FlatAxes sums = sumsOf(product);
  AxisPlan plan = lanesAlong(across, to.width, tiling);
  across.stretches(
      frame, panel.lower, panel.upper,
      [&](Frame &outer, Value first, Value last, Value flat) {
        Values none;
        LoopSpec lane{plan, first, last};
        if (tiling.pairs) {
          AxisPlan two{.axis = sums.last(), .copies = 2};
          LoopSpec deep{two, depth.lower, depth.upper};
          return emitter.nest(outer, {deep, lane}, none,
                              [&](Frame &at, Values &) {
                                packLanes(at, product, ofRows, to, flat, first,
                                          at.find(sums.last())->position);
                              });
        }
        sums.each(outer, depth.lower, depth.upper, [&](Frame &at, Value deep) {
          emitter.nest(at, {lane}, none, [&](Frame &inner, Values &) {
            packLanes(inner, product, ofRows, to, flat, first, deep);
          });
        });
      });
}

/// Words of an even and an odd element, zero where there is no odd one.
Value ContractionBuilder::paired(Frame &frame, Value even, Value odd) {
  OpBuilder &b = in(frame);
  std::int64_t lanes = lanesOf(even);
  assert(lanes > 1 && "targets with dot products have masks");
  if (!odd)
    odd = arith::ConstantOp::create(b, loc, b.getZeroAttr(even.getType()));
  SmallVector<std::int64_t> mask;
  for (std::int64_t lane = 0; lane < lanes; ++lane)
    mask.append({lane, lanes + lane});
  Value both = vector::ShuffleOp::create(b, loc, even, odd, mask);
  return LLVM::BitcastOp::create(
      b, loc, VectorType::get({lanes}, tiling.element), both);
}

/// Neighbours along the sum as words of two; behind the last one is zero.
Value ContractionBuilder::asWords(Frame &frame, Value vector, Value mask) {
  OpBuilder &b = in(frame);
  if (mask) {
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(vector.getType()));
    vector = arith::SelectOp::create(b, loc, mask, vector, zero);
  }
  auto words = VectorType::get({std::int64_t(tiling.lanes)}, tiling.element);
  return LLVM::BitcastOp::create(b, loc, words, vector);
}

/// The squares of registers transposed, of `side` positions each; what stands
/// for the same summed elements comes together.
static SmallVector<Value> turnedSquares(OpBuilder &b, Location loc,
                                        ArrayRef<Value> vectors,
                                        unsigned side) {
  SmallVector<Value> all(vectors);
  unsigned squares = vectors.size() / side;
  for (unsigned square = 0; square < squares; ++square) {
    auto part = llvm::to_vector(vectors.slice(square * side, side));
    for (auto [number, vector] : llvm::enumerate(turned(b, loc, part)))
      all[number * squares + square] = vector;
  }
  return all;
}

/// Lanes run along the last summed axis for `group` positions of the panel at
/// once; registers are transposed before they are stored. More positions than
/// the panel is wide reach into the next summed element's, which comes later.
void ContractionBuilder::packTurned(Frame &frame, const Product &product,
                                    bool ofRows, unsigned group, Block depth,
                                    Panel to) {
  FlatAxes &across = ofRows ? rows : columns;
  FlatAxes sums = sumsOf(product);
  Value factor = ofRows ? product.rows : product.columns;
  bool inLines = ofRows && tiling.tiles;
  unsigned slot = across.bindCopies(frame, to.first, group);
  auto copy = [&](Frame &at, Value first, Value flat) {
    const Binding *lane = at.find(sums.last());
    Value place = binary(at, '-', lane->position, first);
    place = binary(at, '+', place, binary(at, '-', flat, to.from));
    place = binary(at, '*', words(at, place), number(at, to.width));
    Value pointer = element(at, to.base, place);
    Values vectors;
    for (unsigned position = 0; position < group; ++position) {
      Value vector =
          emitter.wide(at, factor, Copies(position) << (8 * slot), lane->lanes);
      if (tiling.pairs)
        vector = asWords(at, vector, lane->mask);
      vectors.push_back(vector);
    }
    unsigned side = std::min(group, tiling.lanes);
    if (lane->lanes > 1 && !inLines)
      vectors = turnedSquares(in(at), loc, vectors, side);
    unsigned wide = lanesOf(vectors[0]), squares = group / side;
    for (auto [count, vector] : llvm::enumerate(vectors)) {
      // A vector holds whole rows of `side` positions.
      std::int64_t row = count / squares, square = count % squares;
      std::int64_t offset = inLines ? count * tiling.lanes
                            : wide > 1
                                ? row * wide / side * to.width + square * side
                                : count;
      emitter.write(at, element(at, pointer, number(at, offset)), vector,
                    tiling.element, Value());
    }
  };
  sums.stretches(frame, depth.lower, depth.upper,
                 [&](Frame &inner, Value first, Value last, Value flat) {
                   unsigned lanes = tiling.lanes * (tiling.pairs ? 2 : 1);
                   AxisPlan plan{.axis = sums.last(), .lanes = lanes};
                   Values none;
                   emitter.nest(
                       inner, {LoopSpec{plan, first, last}}, none,
                       [&](Frame &at, Values &) { copy(at, first, flat); });
                 });
}
