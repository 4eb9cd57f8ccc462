// A unit of a contraction with few rows: columns are read once, where they lie,
// and added to lines of sums.
#include "dsl/lower/Contract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// Rows whose sums are added to in one round.
constexpr std::int64_t rowsTogether = 2;
/// Vectors of a line that are added together: factors of rows are spread once.
constexpr unsigned vectorsTogether = 2;

/// Steps of the sum that a line of columns is walked for: sums are read and
/// written once for all of them, as many as registers hold.
static unsigned stepsOfLine(const TargetInfo &target) {
  return target.vectorRegisters >= 32 ? 8 : 4;
}

void ContractionBuilder::clearSums(Frame &frame, Value count) {
  Type type = VectorType::get({std::int64_t(tiling.lanes)}, tiling.element);
  Value zero =
      arith::ConstantOp::create(in(frame), loc, builder.getZeroAttr(type));
  Value start = number(frame, 0);
  loop(frame, start, rows.extent(frame), 1, [&](Frame &outer, Value row) {
    Value line = binary(outer, '*', row, number(outer, sumLine));
    loop(outer, start, count, tiling.lanes, [&](Frame &at, Value column) {
      Value place = binary(at, '+', line, column);
      emitter.write(at, element(at, sumBuffers[0], place), zero, tiling.element,
                    Value());
    });
  });
}

/// Adds the bound steps of the bound columns to the sums of all rows. `first`
/// is the first column of the line.
void ContractionBuilder::addSteps(Frame &at, Value first) {
  const Product &product = tiling.products[0];
  const Binding *lane = at.find(columns.last());
  const Binding *deep = at.find(product.sums.back());
  unsigned lanes = lane->lanes;
  SmallVector<Copies> steps = emitter.copiesOf(at, axisBit(deep->axis));
  SmallVector<Values> vectors; // by place in the line, then by step
  for (Copies place : emitter.copiesOf(at, axisBit(lane->axis)))
    for (Values &some = vectors.emplace_back(); Copies step : steps)
      some.push_back(emitter.wide(at, product.columns, place | step, lanes));
  Value sums =
      element(at, sumBuffers[0], binary(at, '-', lane->position, first));
  Value height = number(at, tiling.height), size = panelElements(at, product);
  Value factors =
      element(at, packedRows(at, 0), binary(at, '*', deep->position, height));
  auto addRow = [&](Frame &inner, Value factor, Value sum) {
    Values spread;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      Value skip = number(inner, step * tiling.height);
      Value one = emitter.read(inner, element(inner, factor, skip),
                               tiling.element, 1, Value(), Value());
      spread.push_back(emitter.widen(inner, one, lanes));
    }
    for (auto [place, some] : llvm::enumerate(vectors)) {
      Value to = element(inner, sum, number(inner, place * lanes));
      Value now =
          emitter.read(inner, to, tiling.element, lanes, Value(), Value());
      for (auto [one, vector] : llvm::zip(spread, some))
        now = multiplyAdd(inner, one, vector, now);
      emitter.write(inner, to, now, tiling.element, Value());
    }
  };
  loop(at, number(at, 0), rows.extent(at), rowsTogether,
       [&](Frame &inner, Value row) {
         Value panel = binary(inner, '/', row, height);
         Value within =
             binary(inner, '-', row, binary(inner, '*', panel, height));
         Value from = binary(inner, '*', panel, size);
         from = binary(inner, '+', from, within);
         Value line = binary(inner, '*', row, number(inner, sumLine));
         for (std::int64_t r = 0; r < rowsTogether; ++r)
           addRow(
               inner,
               element(inner, factors,
                       binary(inner, '+', from, number(inner, r))),
               element(inner, sums,
                       binary(inner, '+', line, number(inner, r * sumLine))));
       });
}

void ContractionBuilder::line(Frame &frame, Value at, Value size) {
  Block rowRange{number(frame, 0), rows.extent(frame)};
  Block columnRange = range(frame, columns, at, size);
  sumLine = tiling.lineColumns;
  clearSums(frame, binary(frame, '-', columnRange.upper, columnRange.lower));
  AxisPlan deep{.axis = tiling.products[0].sums.back(),
                .copies = stepsOfLine(target)};
  AxisPlan lane{
      .axis = columns.last(), .lanes = tiling.lanes, .copies = vectorsTogether};
  columns.stretches(
      frame, columnRange.lower, columnRange.upper,
      [&](Frame &outer, Value first, Value last, Value flat) {
        Value zero = binary(outer, '-', flat, columnRange.lower);
        zero = binary(outer, '-', first, zero);
        Values none;
        emitter.nest(
            outer, {LoopSpec{deep, {}, {}}, LoopSpec{lane, first, last}}, none,
            [&](Frame &inner, Values &) { addSteps(inner, zero); });
      });
  epilogue(frame, stores, rowRange, columnRange);
}
