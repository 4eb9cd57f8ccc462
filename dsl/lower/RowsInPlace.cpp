// Blocks of few rows: keys and values are read where they lie, once for several
// rows.
#include "dsl/cost/Parameters.h"
#include "dsl/lower/RowBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Rows that meet a vector together, where there is more than one.
static constexpr unsigned severalRows = 4;

/// One row alone, or several at a time from row `first` of the block on; those
/// past the end stand for the last one.
void RowBlockBuilder::together(Frame &frame, Block rows, Rows body) {
  Value count = binary(frame, '-', rows.upper, rows.lower);
  Value zero = number(frame, 0), one = number(frame, 1);
  Value isOne = arith::CmpIOp::create(emitter.in(frame), loc,
                                      arith::CmpIPredicate::eq, count, one);
  auto branch = scf::IfOp::create(emitter.in(frame), loc, isOne, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame alone = Frame::inside(frame, branch.thenBlock());
  alone.anchor = branch.thenBlock()->getTerminator();
  body(alone, zero, 1);
  Frame others = Frame::inside(frame, branch.elseBlock());
  others.anchor = branch.elseBlock()->getTerminator();
  scores.loop(others, zero, count, severalRows,
              [&](Frame &at, Value first) { body(at, first, severalRows); });
  frame.anchor = anchor;
}

/// Some keys at a time, which are near when all rows but the first read them;
/// once where there are none.
void RowBlockBuilder::byKeys(Frame &frame, Block inner,
                             llvm::function_ref<void(Frame &, Block)> body) {
  constexpr std::int64_t keys = 128;
  Value one = binary(frame, '+', inner.lower, number(frame, 1));
  Value most = binary(frame, '>', inner.upper, one);
  scores.loop(frame, inner.lower, most, keys, [&](Frame &at, Value from) {
    Value to = binary(at, '+', from, number(at, keys));
    body(at, {from, binary(at, '<', to, inner.upper)});
  });
}

void RowBlockBuilder::scoreInPlace(Frame &frame, Block rows, Block inner) {
  byKeys(frame, inner, [&](Frame &part, Block keys) {
    together(part, rows, [&](Frame &at, Value first, unsigned together) {
      Value row = binary(at, '+', rows.lower, first);
      scoreKeys(at, first, row, together, keys);
    });
  });
}

/// The scores of some rows. Where neighbours of a key lie along the sum, lanes
/// do, and several keys are read at a time; else they run along the keys.
void RowBlockBuilder::scoreKeys(Frame &frame, Value first, Value row,
                                unsigned together, Block inner) {
  const Tiling &tiling = blocks.scores;
  scores.rows.bindCopies(frame, row, together);
  AxisSet rowAxes;
  for (unsigned axis : scores.rows.list())
    rowAxes |= axisBit(axis);
  AxisPlan plan{.axis = blocks.inner()};
  plan.copies = severalRows;
  plan.repeats = tiling.products[0].turnColumns;
  if (!plan.repeats) {
    plan.lanes = tiling.lanes;
    plan.copies = target.vectorRegisters >= 32 ? 4 : 2;
  }
  Values none;
  emitter.nest(
      frame, {LoopSpec{plan, inner.lower, inner.upper}}, none,
      [&](Frame &at, Values &) {
        for (unsigned which = 0; which < tiling.products.size(); ++which)
          for (auto [number, copies] :
               llvm::enumerate(emitter.copiesOf(at, rowAxes))) {
            Value row = binary(at, '+', first, this->number(at, number));
            writeScores(at, which, binary(at, '*', row, stride(at)), copies);
          }
      });
}

/// Writes the scores of a row and the bound keys. Sums of keys that follow each
/// other are one vector; behind the end there is room.
void RowBlockBuilder::writeScores(Frame &at, unsigned which, Value line,
                                  Copies row) {
  Value sum = blocks.scores.products[which].op->getResult(0);
  Type element = blocks.scores.element;
  unsigned lanes = at.find(blocks.inner())->lanes;
  auto keys = emitter.copiesOf(at, axisBit(blocks.inner()));
  Values each;
  for (Copies key : keys)
    each.push_back(emitter.wide(at, sum, row | key, lanes));
  if (lanes == 1 && each.size() > 1) {
    auto type = VectorType::get({std::int64_t(each.size())}, element);
    each = {vector::FromElementsOp::create(emitter.in(at), loc, type, each)};
  }
  for (auto [key, value] : llvm::zip(keys, each)) {
    Value place = emitter.position(at, blocks.inner(), key);
    place = binary(at, '+', line, place);
    emitter.write(at, scores.element(at, buffer(at, which), place), value,
                  element, Value());
  }
}

/// The stores of sums over the inner axis, a line of their columns at a time.
void RowBlockBuilder::sumInPlace(Frame &frame, unsigned which,
                                 ArrayRef<qn::StoreOp> summed, Block rows,
                                 Block inner) {
  const Tiling &tiling = blocks.sums[which].tiling;
  ContractionBuilder &of = sums[which];
  unsigned copies = target.vectorRegisters >= 32 ? 4 : 2;
  AxisPlan plan{
      .axis = of.columns.last(), .lanes = tiling.lanes, .copies = copies};
  auto line = [&](Frame &at, Value lower) {
    Value upper = binary(at, '+', lower, number(at, lineInPlace));
    upper = binary(at, '<', upper, of.columns.extent(at));
    auto stretch = [&](Frame &outer, Value begin, Value end, Value flat) {
      Values none;
      Value before = binary(outer, '-', flat, lower);
      before = binary(outer, '-', before, begin);
      emitter.nest(outer, {LoopSpec{plan, begin, end}}, none,
                   [&](Frame &lane, Values &) {
                     Value place = lane.find(plan.axis)->position;
                     place = binary(lane, '+', place, before);
                     for (unsigned i = 0; i < tiling.products.size(); ++i)
                       sumColumns(lane, which, i, rows, inner, place);
                   });
    };
    of.columns.stretches(at, lower, upper, stretch);
    of.epilogue(at, summed, rows, {lower, upper});
  };
  scores.loop(frame, number(frame, 0), of.columns.extent(frame), lineInPlace,
              line);
}

/// Adds the products of these kept lines and the bound columns to sums: vectors
/// of the first line, then of the next.
Emitter::Values RowBlockBuilder::addUp(Frame &frame, ContractionBuilder &of,
                                       Value columns, ArrayRef<Value> lines,
                                       Block keys, ValueRange before) {
  const Binding lane = *frame.find(of.columns.last());
  auto copies = emitter.copiesOf(frame, axisBit(lane.axis));
  Type element = blocks.scores.element;
  Value one = number(frame, 1);
  auto loop = scf::ForOp::create(emitter.in(frame), loc, keys.lower, keys.upper,
                                 one, before);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame at = Frame::inside(frame, loop.getBody());
  Value position = loop.getInductionVar();
  at.bind(Binding{.axis = blocks.inner(), .position = position});
  Values sums;
  for (Value line : lines) {
    Value factor = emitter.read(at, scores.element(at, line, position), element,
                                1, Value(), Value());
    factor = emitter.widen(at, factor, lane.lanes);
    for (Copies copy : copies) {
      Value column = emitter.wide(at, columns, copy, lane.lanes);
      Value sum = loop.getRegionIterArg(sums.size());
      sums.push_back(of.multiplyAdd(at, factor, column, sum));
    }
  }
  scf::YieldOp::create(emitter.in(at), loc, sums);
  frame.anchor = anchor;
  return Values(loop.getResults());
}

/// Sums of the bound columns for all rows, which go to `place` of their lines.
void RowBlockBuilder::sumColumns(Frame &frame, unsigned which, unsigned product,
                                 Block rows, Block inner, Value place) {
  byKeys(frame, inner, [&](Frame &part, Block keys) {
    Value isFirst =
        arith::CmpIOp::create(emitter.in(part), loc, arith::CmpIPredicate::eq,
                              keys.lower, inner.lower);
    Value count = binary(part, '-', rows.upper, rows.lower);
    Value last = binary(part, '-', count, number(part, 1));
    together(part, rows, [&](Frame &at, Value first, unsigned together) {
      Values lines, places;
      for (unsigned number = 0; number < together; ++number) {
        Value row = binary(at, '+', first, this->number(at, number));
        Value to = binary(at, '*', row, this->number(at, lineInPlace));
        places.push_back(binary(at, '+', to, place));
        lines.push_back(binary(at, '<', row, last));
      }
      addToLines(at, which, product, lines, places, keys, isFirst);
    });
  });
}

/// Adds what these keys give to the sums at `places`, of kept lines by number.
void RowBlockBuilder::addToLines(Frame &frame, unsigned which, unsigned product,
                                 ArrayRef<Value> numbers,
                                 ArrayRef<Value> places, Block keys,
                                 Value isFirst) {
  const KeptSums &of = blocks.sums[which];
  ContractionBuilder &builder = sums[which];
  const Binding lane = *frame.find(builder.columns.last());
  unsigned vectors = lane.copies;
  Type element = blocks.scores.element;
  Value kept =
      buffer(frame, blocks.scores.products.size() + of.factors[product]);
  Value zero = arith::ConstantOp::create(emitter.in(frame), loc,
                                         this->builder.getZeroAttr(element));
  zero = emitter.widen(frame, zero, lane.lanes);
  Values lines, to, before;
  for (auto [row, place] : llvm::zip(numbers, places)) {
    Value line = binary(frame, '*', row, stride(frame));
    lines.push_back(scores.element(frame, kept, line));
    for (unsigned vector = 0; vector < vectors; ++vector) {
      Value skip = number(frame, std::int64_t(vector) * lane.lanes);
      skip = binary(frame, '+', place, skip);
      to.push_back(scores.element(frame, builder.sumBuffers[product], skip));
      Value sum = emitter.read(frame, to.back(), element, lane.lanes, lane.mask,
                               Value());
      before.push_back(
          arith::SelectOp::create(emitter.in(frame), loc, isFirst, zero, sum));
    }
  }
  Values made = addUp(frame, builder, of.tiling.products[product].columns,
                      lines, keys, before);
  for (auto [pointer, sum] : llvm::zip(to, made))
    emitter.write(frame, pointer, sum, element, lane.mask);
}
