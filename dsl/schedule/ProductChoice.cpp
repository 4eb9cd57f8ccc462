// The extents of a call decide whether factors are packed, streamed, or read
// where they lie, and whether sums are made in parts.
#include "dsl/schedule/ProductChoice.h"

#include "dsl/cost/Parameters.h"
#include "dsl/schedule/Windows.h"

using namespace mlir;
using namespace quern;

namespace {
class ProductChoice {
public:
  ProductChoice(HostValues &host, const KernelModel &model,
                const TargetInfo &target, const Tiling &tiling,
                const ProductLimits &limits)
      : host(host), model(model), target(target), tiling(tiling),
        limits(limits), first(tiling.products.front()),
        tall(host.extentOf(tiling.rows)), wide(host.extentOf(tiling.columns)) {}

  ProductConditions conditions();

private:
  Value isFew();
  Value isFewNear();
  Value isSmall();
  Value isDeep();
  Value hasAtMost(Value across, std::int64_t elements);

  HostValues &host;
  const KernelModel &model;
  const TargetInfo &target;
  const Tiling &tiling;
  const ProductLimits &limits;
  const Product &first;
  Value tall, wide;
};
} // namespace

/// Whether a factor, all of the depth, has no more elements.
Value ProductChoice::hasAtMost(Value across, std::int64_t elements) {
  Value all = host.multiply(across, host.extentOf(first.sums));
  return host.isAtMost(all, elements);
}

/// Whether so few rows are not worth a tile, since lanes along the columns of
/// windows, most of them, read neighbours.
Value ProductChoice::isFewNear() {
  unsigned lane = tiling.columns.back();
  Value near = host.isBelow(tall, limits.fewNearRows);
  near = host.both(near, host.isAtLeast(host.extent(lane), tiling.lanes / 2));
  eachBound(model, first.columns, [&](qn::LoadOp load, unsigned number) {
    Value index = load.getIndices()[number];
    if (!hasAxis(model.axesOf(index), lane))
      return;
    std::optional<Value> step = host.stepAlong(index, lane);
    qn::OperandType type = load.getTensor().getType();
    bool isLine = step && type.getStrides()[number] == StrideClass::One;
    near = host.both(near, host.isEqual(isLine ? *step : host.number(0), 1));
  });
  return near;
}

Value ProductChoice::isFew() {
  Value few = host.isBelow(tall, limits.fewRows);
  if (limits.fewRowElements)
    few = host.either(few, hasAtMost(tall, limits.fewRowElements));
  if (limits.fewNearRows)
    few = host.either(few, isFewNear());
  return few;
}

/// Whether columns are few, and rows fill a tile or columns are very few.
Value ProductChoice::isSmall() {
  Value isTile = host.either(host.isAtLeast(tall, tiling.height),
                             hasAtMost(wide, cost::tinyColumns));
  return host.both(hasAtMost(wide, limits.fewElements), isTile);
}

/// What is cut into parts: positions along the sum, or of a window those along
/// the axis that bounds nothing.
static Value partedExtent(HostValues &host, const Product &product) {
  return product.window ? host.extent(product.sums.back())
                        : host.extentOf(product.sums);
}

Value quern::partOfSum(HostValues &host, const Product &product) {
  Value small = host.number(cost::sumPart);
  if (!product.window) {
    Value isShort = host.isBelow(host.extentOf(product.sums), cost::longSum);
    return host.choose(isShort, small, host.number(cost::longSumPart));
  }
  Value each = host.extentOf(ArrayRef(product.sums).drop_back());
  Value images = host.divide(small, host.larger(each, host.number(1)));
  return host.larger(images, host.number(cost::fewestImages));
}

/// Whether few rows and columns meet over a sum long enough for parts.
Value ProductChoice::isDeep() {
  Value least = host.number(limits.deepFrom);
  // Rows that fill no tile meet columns where those lie.
  if (limits.streamedRows)
    least = host.choose(host.isAtMost(tall, tiling.height),
                        host.number(cost::longSum), least);
  Value deep = host.isAtLeast(host.extentOf(first.sums), least);
  if (first.window) {
    Value count = host.parts(partedExtent(host, first), tiling.part);
    deep = host.both(deep, host.isAtLeast(count, target.cores));
  }
  deep = host.both(deep, host.isAtMost(tall, cost::smallRowBlock));
  deep = host.both(deep, host.isAtMost(wide, cost::deepColumns));
  Value square = host.multiply(tall, wide);
  std::int64_t most = cost::deepSquare * std::int64_t(target.cores);
  return host.both(deep, host.isAtMost(square, most));
}

/// The first that holds decides.
ProductConditions ProductChoice::conditions() {
  ProductConditions made;
  Value narrow = host.isBelow(wide, cost::packingColumns), open;
  auto take = [&](Value holds) {
    Value taken = host.both(open, holds);
    open = host.both(open, host.negated(holds));
    return taken;
  };
  Value few = limits.fewRows || limits.fewRowElements || limits.fewNearRows
                  ? isFew()
                  : Value();
  bool joins = few && !tiling.byColumns;
  made.inPlace = take(joins ? host.either(narrow, few) : narrow);
  if (few && tiling.byColumns)
    made.fewRows = take(few);
  if (limits.fewElements)
    made.small = take(isSmall());
  if (limits.deepFrom)
    made.deep = take(isDeep());
  made.packsRows = open;
  if (limits.streamedRows)
    made.streamed = take(host.isAtMost(tall, limits.streamedRows));
  made.packed = open;
  return made;
}

ProductConditions quern::conditionsOf(HostValues &host,
                                      const KernelModel &model,
                                      const TargetInfo &target,
                                      const Tiling &tiling,
                                      const ProductLimits &limits) {
  return ProductChoice(host, model, target, tiling, limits).conditions();
}
