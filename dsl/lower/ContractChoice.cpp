// Which launches of a contraction run: the extents decide.
#include "dsl/cost/Parameters.h"
#include "dsl/lower/Contract.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// So few columns are read where they lie by any rows: packing either, of every
/// product of a batch, would take longer than the products.
constexpr std::int64_t tiny = 512;

/// Whether so few rows are not worth a tile, since lanes along the columns of
/// windows, most of them, read neighbours.
Value ContractionBuilder::fewNearRows(Frame &frame, Value tall) {
  using arith::CmpIPredicate;
  Binding lane{.axis = columns.last()};
  Value line = emitter.extent(frame, lane.axis);
  Value near = arith::CmpIOp::create(in(frame), loc, CmpIPredicate::slt, tall,
                                     number(frame, tiling.fewNearRows));
  Value isLong = arith::CmpIOp::create(in(frame), loc, CmpIPredicate::sge, line,
                                       number(frame, tiling.lanes / 2));
  near = arith::AndIOp::create(in(frame), loc, near, isLong);
  eachBound(
      model, tiling.products[0].columns, [&](qn::LoadOp load, unsigned axis) {
        Value index = load.getIndices()[axis];
        if (!hasAxis(model.axesOf(index), lane.axis))
          return;
        auto step = emitter.laneStep(frame, index, lane, 0);
        bool isLine =
            load.getTensor().getType().getStrides()[axis] == StrideClass::One;
        Value by = step && isLine ? *step : number(frame, 0);
        Value one = arith::CmpIOp::create(in(frame), loc, CmpIPredicate::eq, by,
                                          number(frame, 1));
        near = arith::AndIOp::create(in(frame), loc, near, one);
      });
  return near;
}

/// Whether a factor has no more elements.
Value ContractionBuilder::holds(Frame &frame, Value across,
                                std::int64_t elements) {
  FlatAxes sums = sumsOf(tiling.products[0]);
  Value size = binary(frame, '*', across, sums.extent(frame));
  return arith::CmpIOp::create(in(frame), loc, arith::CmpIPredicate::sle, size,
                               number(frame, elements));
}

/// Whether few rows and columns meet over a sum long enough for parts.
Value ContractionBuilder::isDeep(Frame &frame, Value tall, Value wide) {
  FlatAxes sums = sumsOf(tiling.products[0]);
  Value square = binary(frame, '*', tall, wide);
  std::pair<Value, std::int64_t> most[] = {
      {tall, cost::smallRowBlock},
      {wide, cost::deepColumns},
      {square, cost::deepSquare * std::int64_t(target.cores)}};
  Value depth = sums.extent(frame), least = number(frame, tiling.deepFrom);
  if (tiling.streamedRows) {
    // Rows that fill no tile meet columns where those lie.
    Value height = number(frame, tiling.height),
          far = number(frame, cost::longSum);
    OpBuilder &b = in(frame);
    Value isFew =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, tall, height);
    least = arith::SelectOp::create(b, loc, isFew, far, least);
  }
  Value deep = arith::CmpIOp::create(in(frame), loc, arith::CmpIPredicate::sge,
                                     depth, least);
  if (tiling.products[0].window) {
    Value shares = parts(frame), all = number(frame, target.cores);
    OpBuilder &b = in(frame);
    Value several =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, shares, all);
    deep = arith::AndIOp::create(b, loc, deep, several);
  }
  for (auto [size, bound] : most) {
    Value upTo = number(frame, bound);
    OpBuilder &b = in(frame);
    Value fits =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, size, upTo);
    deep = arith::AndIOp::create(b, loc, deep, fits);
  }
  return deep;
}

Value ContractionBuilder::runs(Frame &frame, const LaunchPlan &launch) {
  using arith::CmpIPredicate;
  auto compare = [&](CmpIPredicate how, Value size, std::int64_t bound) {
    return arith::CmpIOp::create(in(frame), loc, how, size,
                                 number(frame, bound));
  };
  Value wide = columns.extent(frame), tall = rows.extent(frame);
  Value none = compare(CmpIPredicate::slt, tall, 0);
  Value narrow = compare(CmpIPredicate::slt, wide, cost::packingColumns);
  Value few = compare(CmpIPredicate::slt, tall, tiling.fewRows);
  Value small = none, deep = none, streamed = none;
  if (tiling.fewElements) {
    Value tile = compare(CmpIPredicate::sge, tall, tiling.height);
    tile = arith::OrIOp::create(in(frame), loc, tile, holds(frame, wide, tiny));
    small = holds(frame, wide, tiling.fewElements);
    small = arith::AndIOp::create(in(frame), loc, small, tile);
  }
  if (tiling.fewRowElements)
    few = arith::OrIOp::create(in(frame), loc, few,
                               holds(frame, tall, tiling.fewRowElements));
  if (tiling.fewNearRows)
    few = arith::OrIOp::create(in(frame), loc, few, fewNearRows(frame, tall));
  if (tiling.deepFrom)
    deep = isDeep(frame, tall, wide);
  if (tiling.streamedRows)
    streamed = compare(CmpIPredicate::sle, tall, tiling.streamedRows);
  // The first that holds decides.
  Value inPlace = narrow;
  if (!tiling.byColumns)
    inPlace = arith::OrIOp::create(in(frame), loc, narrow, few);
  std::pair<Value, LaunchChoice> choices[] = {
      {inPlace, LaunchChoice::InPlace},
      {few, LaunchChoice::FewRows},
      {small, LaunchChoice::Small},
      {deep, LaunchChoice::Deep},
      {streamed, LaunchChoice::Streamed}};
  bool packsRows = launch.kind == LaunchKind::Pack;
  Value yes = compare(CmpIPredicate::sge, tall, 0), open = yes;
  for (auto [holds, choice] : choices) {
    if (packsRows && choice == LaunchChoice::Streamed)
      break;
    OpBuilder &b = in(frame);
    if (choice == launch.choice)
      return arith::AndIOp::create(b, loc, open, holds);
    Value fails = arith::XOrIOp::create(b, loc, holds, yes);
    open = arith::AndIOp::create(b, loc, open, fails);
  }
  return open;
}
