// Finds contractions and sizes their blocks.
#include "dsl/schedule/Contraction.h"
#include "dsl/cost/Parameters.h"

#include "dsl/dialect/Behind.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// Whether a region only adds its two arguments.
static bool isAddition(Region &region) {
  Block &block = region.front();
  auto sum = dyn_cast<arith::AddFOp>(block.front());
  if (!sum || !llvm::hasNItems(block, 2) || block.getNumArguments() != 2 ||
      block.getTerminator()->getOperand(0) != sum)
    return false;
  Value first = block.getArgument(0), second = block.getArgument(1);
  return (sum.getLhs() == first && sum.getRhs() == second) ||
         (sum.getLhs() == second && sum.getRhs() == first);
}

std::optional<Factors> quern::sumOfProducts(qn::ReduceOp op) {
  bool isInLoop = !isa<qn::RowwiseOp>(op->getParentOp());
  if (isInLoop || op.getPortable() || op.getInputs().size() != 1 ||
      op.getInits().size() != 1 || !isAddition(op.getStep()))
    return std::nullopt;
  auto product = op.getInputs()[0].getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  return Factors{product.getLhs(), product.getRhs()};
}

/// Adds up how well the loads behind `value` suit lanes along `axis`.
static int neighbourScore(const KernelModel &model, Value value,
                          unsigned axis) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open{value};
  int score = 0;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || isa<qn::ReduceOp>(op) || !seen.insert(op).second)
      continue;
    auto load = dyn_cast<qn::LoadOp>(op);
    if (!load) {
      llvm::append_range(open, op->getOperands());
      continue;
    }
    qn::OperandType type = load.getTensor().getType();
    for (auto [number, name] : llvm::enumerate(type.getAxes())) {
      bool moves = load.getIndices().empty()
                       ? model.axisOf(name) == axis
                       : hasAxis(model.axesOf(load.getIndices()[number]), axis);
      StrideClass stride = type.getStrides()[number];
      if (moves && stride != StrideClass::Zero)
        score += stride == StrideClass::One ? 1 : -1;
    }
  }
  return score;
}

SmallVector<unsigned> quern::axisList(AxisSet set) {
  SmallVector<unsigned> axes;
  for (; set; set &= ~axisBit(axes.back()))
    axes.push_back(set.first());
  return axes;
}

/// Puts the axis with the best score last.
static void bestLast(SmallVectorImpl<unsigned> &axes,
                     llvm::function_ref<int(unsigned)> score) {
  auto best = axes.begin();
  for (auto axis = axes.begin(); axis != axes.end(); ++axis)
    if (score(*axis) >= score(*best))
      best = axis;
  if (best != axes.end())
    std::rotate(best, best + 1, axes.end());
}

/// How the stores suit lanes along an axis.
static int storeScore(const KernelModel &model, ArrayRef<qn::StoreOp> stores,
                      unsigned axis) {
  int score = 0;
  for (qn::StoreOp store : stores) {
    qn::OperandType type = store.getTensor().getType();
    for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
      if (model.axisOf(name) == axis && stride != StrideClass::Zero)
        score += stride == StrideClass::One ? 1 : -1;
  }
  return score;
}

/// The axes and factors of one product; nothing where it is not a contraction
/// of all parallel axes.
static std::optional<Product> productOf(const KernelModel &model,
                                        qn::ReduceOp op, AxisSet parallel,
                                        AxisSet uneven) {
  std::optional<Factors> factors = sumOfProducts(op);
  if (!factors || op.getWhere() ||
      !matchPattern(op.getInits()[0], m_AnyZeroFloat()))
    return std::nullopt;
  AxisSet sums = model.axesOf(op.getAxes());
  if (model.axesOf(op->getResult(0)) != parallel || (sums & uneven))
    return std::nullopt;
  for (unsigned axis : axisList(sums))
    if (qn::AxisOp local = model.localAxis(axis))
      if (model.axesOf(local.getLower()) | model.axesOf(local.getUpper()))
        return std::nullopt;
  Product product;
  product.op = op;
  product.rows = factors->left;
  product.columns = factors->right;
  product.sums = axisList(sums);
  return product;
}

SmallVector<qn::ReduceOp> quern::reductionsBehind(ArrayRef<qn::StoreOp> stores,
                                                  bool all) {
  SmallVector<qn::ReduceOp> found;
  SmallVector<Value> stored;
  for (qn::StoreOp store : stores)
    llvm::append_range(stored, store->getOperands());
  walkBehind(stored, [&](Operation *op) {
    auto reduce = dyn_cast<qn::ReduceOp>(op);
    if (reduce)
      found.push_back(reduce);
    return reduce && !all ? WalkResult::skip() : WalkResult::advance();
  });
  if (found.empty())
    return found;
  // In the order of the text; some stand in its loops.
  SmallVector<qn::ReduceOp> sorted;
  found.front()->getParentOfType<qn::RowwiseOp>().walk([&](qn::ReduceOp op) {
    if (llvm::is_contained(found, op))
      sorted.push_back(op);
  });
  return sorted;
}

/// The bf16 value behind a factor, or null.
static Value pairedSource(Value factor) {
  auto widened = factor.getDefiningOp<arith::ExtFOp>();
  return widened && widened.getIn().getType().isBF16() ? widened.getIn()
                                                       : Value();
}

/// Two products of bf16 at once, where the target can and every summed axis is
/// one whose neighbours can be paired.
void quern::pairUp(const KernelModel &model, const TargetInfo &target,
                   Tiling &tiling) {
  tiling.pairs =
      target.hasBf16Dot &&
      llvm::all_of(tiling.products, [&](const Product &product) {
        return product.sums.size() == 1 && !model.localAxis(product.sums[0]) &&
               pairedSource(product.rows) && pairedSource(product.columns);
      });
  if (!tiling.pairs)
    return;
  for (Product &product : tiling.products) {
    product.rows = pairedSource(product.rows);
    product.columns = pairedSource(product.columns);
  }
}

/// Puts the summed axes that bounds of a window depend on first, where there
/// are others.
static void bindWindow(const KernelModel &model, Product &product) {
  AxisSet bounds =
      boundingAxes(model, product.rows) | boundingAxes(model, product.columns);
  SmallVector<unsigned> sums, free;
  for (unsigned axis : product.sums)
    (hasAxis(bounds, axis) ? sums : free).push_back(axis);
  product.window = !sums.empty() && !free.empty();
  llvm::append_range(sums, free);
  product.sums = std::move(sums);
  if (product.window &&
      neighbourScore(model, product.columns, product.sums.back()) < 0)
    product.ahead = cost::windowAhead;
}

void quern::chooseTurns(const KernelModel &model, const Tiling &tiling,
                        Product &product) {
  auto score = [&](Value value, unsigned axis) {
    return neighbourScore(model, value, axis);
  };
  bestLast(product.sums, [&](unsigned axis) {
    return score(product.rows, axis) + score(product.columns, axis);
  });
  bindWindow(model, product);
  unsigned last = product.sums.back();
  auto turn = [&](Value value, unsigned lane) {
    return score(value, last) > 0 && score(value, lane) <= 0;
  };
  // A reduction in the row's factor is made once a row, not once an element.
  product.turnRows = turn(product.rows, tiling.rows.back()) ||
                     model.factsOf(product.rows).combined;
  product.turnColumns = turn(product.columns, tiling.columns.back()) &&
                        tiling.columns.size() == 1;
}

void quern::sizeTile(const TargetInfo &target, Type element, Tiling &tiling) {
  tiling.element = element;
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  tiling.lanes = std::max(2u, target.vectorBytes / bytes);
  // What is left are the vectors of columns and one element of a row.
  tiling.height = target.vectorRegisters >= 32 ? 8 : 6;
}

void quern::sizeBlock(const TargetInfo &target, Tiling &tiling) {
  // A block of rows, and the sums of every product, in half of the cache.
  std::int64_t bytes = tiling.element.getIntOrFloatBitWidth() / 8;
  std::int64_t sums = tiling.products.size() * tiling.blockWidth();
  std::int64_t row = bytes * (tiling.depth + sums);
  std::int64_t fitting = target.l2Bytes / 2 / row;
  std::int64_t rows = std::clamp<std::int64_t>(
      llvm::bit_floor<std::uint64_t>(fitting), cost::smallRowBlock, 512);
  tiling.rowBlock = llvm::alignTo(rows, tiling.height);
}

/// Which factor of every product has the lanes' axis, and what the axes of the
/// tiling are; false where the products do not agree.
static bool assignSides(const KernelModel &model, ArrayRef<qn::StoreOp> stores,
                        AxisSet parallel, Tiling &tiling) {
  const Product &sample = tiling.products.front();
  AxisSet own = (model.axesOf(sample.rows) ^ model.axesOf(sample.columns));
  SmallVector<unsigned> lanes = axisList(own & parallel);
  bestLast(lanes,
           [&](unsigned axis) { return storeScore(model, stores, axis); });
  if (lanes.size() < 2)
    return false;
  AxisSet rows, columns;
  for (auto [number, product] : llvm::enumerate(tiling.products)) {
    if (!hasAxis(model.axesOf(product.columns), lanes.back()))
      std::swap(product.rows, product.columns);
    AxisSet left = model.axesOf(product.rows) & parallel;
    AxisSet right = model.axesOf(product.columns) & parallel;
    if (number && (rows != (left & ~right) || columns != (right & ~left)))
      return false;
    rows = left & ~right;
    columns = right & ~left;
    if (!rows || !hasAxis(columns, lanes.back()) ||
        model.factsOf(product.columns).combined)
      return false;
  }
  tiling.batch = axisList(parallel & ~rows & ~columns);
  tiling.rows = axisList(rows);
  tiling.columns = axisList(columns);
  bestLast(tiling.columns,
           [&](unsigned axis) { return axis == lanes.back() ? 1 : 0; });
  return true;
}

std::optional<Tiling> quern::findTiling(const KernelModel &model,
                                        const TargetInfo &target,
                                        ArrayRef<qn::StoreOp> stores,
                                        AxisSet parallel, AxisSet uneven) {
  Tiling tiling;
  if (parallel & uneven)
    return std::nullopt;
  for (qn::StoreOp store : stores)
    if (model.axesOf(store.getTensor().getType()) != parallel)
      return std::nullopt;
  for (qn::ReduceOp op : reductionsBehind(stores, /*all=*/false)) {
    if (model.isMaterialised(op))
      continue;
    auto product = productOf(model, op, parallel, uneven);
    if (!product)
      return std::nullopt;
    tiling.products.push_back(std::move(*product));
  }
  if (tiling.products.empty() || tiling.products.size() > 4)
    return std::nullopt;
  Type element = tiling.products[0].op.getInits()[0].getType();
  bool same = llvm::all_of(tiling.products, [&](Product &product) {
    return product.op.getInits()[0].getType() == element;
  });
  if (!same || !isa<Float32Type, Float64Type>(element) ||
      !assignSides(model, stores, parallel, tiling))
    return std::nullopt;
  sizeTile(target, element, tiling);
  tiling.panels = 4;
  pairUp(model, target, tiling);
  if (tiling.pairs && target.hasTiles) {
    // Four tile registers of sums, and twice the depth for going back to them.
    tiling.tiles = true;
    tiling.height = 2 * tiling.lanes;
    tiling.depth *= 2;
  }
  sizeBlock(target, tiling);
  for (Product &product : tiling.products)
    chooseTurns(model, tiling, product);
  return tiling;
}
