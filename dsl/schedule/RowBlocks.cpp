// Finds launches that keep blocks of products.
#include "dsl/schedule/RowBlocks.h"
#include "dsl/cost/Parameters.h"
#include "dsl/cost/Work.h"

#include "dsl/dialect/Behind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// Fewer operations than this are repeated rather than read back.

namespace {
/// Collects what a RowBlocks is made of, for one launch.
struct Finder {
  const KernelModel &model;
  const TargetInfo &target;
  ArrayRef<qn::StoreOp> stores;
  AxisSet parallel, uneven;
  SmallVector<qn::ReduceOp> reductions = {};
  AxisSet batch = {}, rows = {}, inner = {};
  RowBlocks result = {};

  bool isWalkedOver(qn::ReduceOp product) const;
  bool findScores();
  bool addScore(qn::ReduceOp op, Factors factors);
  void findValues();
  bool addValue(qn::ReduceOp op, Factors factors);
  void keepFactors();
  void keepFactor(KeptSums &sums, const Product &product);
  void keepInputs();
  void keepSources();
  void keepIfDear(Value value);
  void findResults();
  KeptSums &sumsOver(AxisSet columns);
  unsigned keep(Value value, Value where);
  unsigned operationsAlongInner(Value value) const;
  bool isScore(Value value) const;
  void findBounds();
  InnerBound boundOf(Value where, bool isLower) const;
  bool growsWithRows(Value value) const;
  std::optional<RowBlocks> find();
};
} // namespace

static bool isPlainSum(const KernelModel &model, qn::ReduceOp op) {
  for (unsigned axis : axisList(model.axesOf(op.getAxes())))
    if (qn::AxisOp local = model.localAxis(axis))
      if (model.axesOf(local.getLower()) | model.axesOf(local.getUpper()))
        return false;
  return matchPattern(op.getInits()[0], m_AnyZeroFloat());
}

bool Finder::addScore(qn::ReduceOp op, Factors factors) {
  AxisSet axes = model.axesOf(op->getResult(0));
  AxisSet removed = axes & ~parallel;
  if (op.getWhere() || removed.count() != 1 || (axes & uneven) ||
      removed.last() >= model.declaredAxes() ||
      (model.axesOf(op.getAxes()) & uneven) || !isPlainSum(model, op))
    return false;
  Product product;
  product.op = op;
  product.rows = factors.left;
  product.columns = factors.right;
  if (!(model.axesOf(product.columns) & removed))
    std::swap(product.rows, product.columns);
  AxisSet left = model.axesOf(product.rows) & axes;
  AxisSet right = model.axesOf(product.columns) & axes;
  Type type = op.getInits()[0].getType();
  bool first = result.scores.products.empty();
  if ((left & removed) || !(left & ~right) ||
      model.factsOf(product.columns).combined ||
      (model.factsOf(product.rows).combined & removed) ||
      !isa<Float32Type>(type))
    return false;
  AxisSet ownRows = left & ~right, shared = left & right;
  if ((right & ~shared) != removed)
    return false;
  if (!first && (ownRows != rows || shared != batch || removed != inner))
    return false;
  rows = ownRows;
  batch = shared;
  inner = removed;
  product.sums = axisList(model.axesOf(op.getAxes()));
  result.scores.products.push_back(std::move(product));
  return true;
}

/// Whether something of `values` is made of `op`.
static bool areMadeOf(ValueRange values, Operation *op) {
  return walkBehind(values, [&](Operation *made) {
    return made == op ? WalkResult::interrupt() : WalkResult::advance();
  });
}

/// Whether reductions, or stores of some other axes, walk over an axis of a
/// product that not all results have.
bool Finder::isWalkedOver(qn::ReduceOp product) const {
  AxisSet axes = model.axesOf(product->getResult(0)), stored;
  for (qn::StoreOp store : stores)
    stored |= model.axesOf(store.getTensor().getType());
  if (axes & ~parallel & ~stored)
    return true;
  return llvm::any_of(reductions, [&](qn::ReduceOp op) {
    return op != product && (axes & ~parallel & model.axesOf(op.getAxes())) &&
           areMadeOf(op->getOperands(), product);
  });
}

bool Finder::findScores() {
  for (qn::ReduceOp op : reductions) {
    if (model.isMaterialised(op))
      continue;
    std::optional<Factors> factors = sumOfProducts(op);
    if (factors && isWalkedOver(op) && !addScore(op, *factors))
      return false;
  }
  // Every store must have the rows and the batch for itself.
  return !result.scores.products.empty() &&
         llvm::all_of(stores, [&](qn::StoreOp store) {
           AxisSet axes = model.axesOf(store.getTensor().getType());
           return !((rows | batch) & ~axes);
         });
}

bool Finder::isScore(Value value) const {
  return llvm::any_of(result.scores.products, [&](const Product &product) {
    return product.op->getResult(0) == value;
  });
}

/// Whether all that is made of a kept value ends in reductions that leave out
/// what `where` does.
static bool onlyUsedWhere(Value value, Value where,
                          llvm::SmallPtrSetImpl<Operation *> &seen) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<qn::ReduceOp>(user))
      return reduce.getWhere() == where;
    return OpTrait::hasElementwiseMappableTraits(user) &&
           (!seen.insert(user).second ||
            onlyUsedWhere(user->getResult(0), where, seen));
  });
}

unsigned Finder::keep(Value value, Value where) {
  for (auto [number, kept] : llvm::enumerate(result.kept))
    if (kept.value == value && kept.where == where)
      return number;
  result.kept.push_back({value, where});
  return result.kept.size() - 1;
}

/// The sums over these columns, or new ones.
KeptSums &Finder::sumsOver(AxisSet columns) {
  SmallVector<unsigned> axes = axisList(columns);
  for (KeptSums &sums : result.sums)
    if (sums.tiling.columns == axes)
      return sums;
  Tiling &tiling = result.sums.emplace_back().tiling;
  tiling.element = result.scores.element;
  tiling.batch = result.scores.batch;
  tiling.rows = result.scores.rows;
  tiling.columns = std::move(axes);
  tiling.height = result.scores.height;
  tiling.lanes = result.scores.lanes;
  tiling.rowBlock = result.scores.rowBlock;
  return result.sums.back();
}

bool Finder::addValue(qn::ReduceOp op, Factors factors) {
  AxisSet axes = model.axesOf(op->getResult(0));
  if (model.axesOf(op.getAxes()) != inner || !isPlainSum(model, op) ||
      op.getInits()[0].getType() != result.scores.element)
    return false;
  Value left = factors.left, right = factors.right;
  if (!(model.axesOf(left) & rows))
    std::swap(left, right);
  AxisSet own = axes & ~rows & ~batch;
  if (!own || (own & uneven) ||
      (model.axesOf(left) & ~batch) != (rows | inner) ||
      (model.axesOf(right) & rows) || model.factsOf(right).combined ||
      own != (model.axesOf(right) & ~batch & ~inner))
    return false;
  Product product;
  product.op = op;
  product.rows = left;
  product.columns = right;
  product.sums = axisList(inner);
  sumsOver(own).tiling.products.push_back(std::move(product));
  return true;
}

void Finder::findValues() {
  for (qn::ReduceOp op : reductions)
    if (std::optional<Factors> factors = sumOfProducts(op))
      if (!isScore(op->getResult(0)))
        addValue(op, *factors);
}

void Finder::keepFactor(KeptSums &sums, const Product &product) {
  qn::ReduceOp op = product.op;
  unsigned number = keep(product.rows, op.getWhere());
  sums.factors.push_back(number);
  KeptValue &kept = result.kept[number];
  kept.replaces &= !kept.isPaired();
  if (!kept.where)
    return;
  llvm::SmallPtrSet<Operation *, 16> seen;
  kept.replaces &= !areMadeOf(kept.where, kept.value.getDefiningOp()) &&
                   onlyUsedWhere(kept.value, kept.where, seen);
}

/// What meets packed columns is kept as the words of pairs where it is of bf16.
void Finder::keepFactors() {
  for (KeptSums &sums : result.sums) {
    if (!result.inPlace)
      pairUp(model, target, sums.tiling);
    for (const Product &product : sums.tiling.products)
      keepFactor(sums, product);
  }
}

/// What a value takes at every position of the inner axis, without reductions.
unsigned Finder::operationsAlongInner(Value value) const {
  return cost::operationsBehind(value, [&](Value next) {
    return bool(model.axesOf(next) & inner) &&
           !next.getDefiningOp<qn::ReduceOp>();
  });
}

void Finder::keepIfDear(Value value) {
  bool known = llvm::any_of(
      result.kept, [&](const KeptValue &kept) { return kept.value == value; });
  if (!known && !value.hasOneUse() &&
      value.getType() == result.scores.element &&
      (model.axesOf(value) & ~batch) == (rows | inner) &&
      operationsAlongInner(value) >= cost::keepLeast)
    keep(value, Value());
}

/// What a reduction over the inner axis walks over is kept too, where it is
/// dear and used again.
void Finder::keepInputs() {
  for (qn::ReduceOp op : reductions)
    if (model.axesOf(op.getAxes()) == inner && op.getInputs().size() == 1)
      keepIfDear(op.getInputs()[0]);
}

/// So is what was rounded to be one of a pair.
void Finder::keepSources() {
  for (unsigned number = 0; number != result.kept.size(); ++number)
    if (result.kept[number].isPaired())
      if (auto rounded =
              result.kept[number].value.getDefiningOp<arith::TruncFOp>())
        keepIfDear(rounded.getIn());
}

/// Every panel of columns and every later pass would walk over a row again for
/// what a reduction gave.
void Finder::findResults() {
  if (result.kept.empty())
    return;
  for (qn::ReduceOp op : reductions)
    for (Value value : op->getResults())
      if (!model.isMaterialised(op) && model.axesOf(op.getAxes()) == inner &&
          !(model.axesOf(value) & ~rows & ~batch) &&
          value.getType() == result.scores.element)
        result.results.push_back(value);
}

/// Whether a position only grows from row to row.
bool Finder::growsWithRows(Value value) const {
  if (!(model.axesOf(value) & rows))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<qn::IndexOp>(op))
    return true;
  if (auto sum = dyn_cast_or_null<arith::AddIOp>(op))
    return growsWithRows(sum.getLhs()) && growsWithRows(sum.getRhs());
  auto difference = dyn_cast_or_null<arith::SubIOp>(op);
  return difference && growsWithRows(difference.getLhs()) &&
         !(model.axesOf(difference.getRhs()) & rows);
}

/// The bound in `n < bound`, or another comparison with the position n of the
/// inner axis.
InnerBound Finder::boundOf(Value where, bool isLower) const {
  Operation *op = where ? where.getDefiningOp() : nullptr;
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
    InnerBound left = boundOf(both.getLhs(), isLower);
    return left.value ? left : boundOf(both.getRhs(), isLower);
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return {};
  auto isInner = [&](Value value) {
    auto index = value.getDefiningOp<qn::IndexOp>();
    return index && axisBit(model.axisOf(index.getAxis())) == inner;
  };
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  if (!llvm::is_contained(
          {Predicate::sle, Predicate::slt, Predicate::sge, Predicate::sgt},
          predicate))
    return {};
  bool isLess = predicate == Predicate::sle || predicate == Predicate::slt;
  bool inclusive = predicate == Predicate::sle || predicate == Predicate::sge;
  bool isLeft = isInner(compare.getLhs());
  Value bound = isLeft ? compare.getRhs() : compare.getLhs();
  AxisSet along = model.axesOf(bound) & rows;
  if ((!isLeft && !isInner(compare.getRhs())) ||
      isLower != (isLess != isLeft) || along.count() > 1 ||
      (model.axesOf(bound) & ~rows & ~batch) || model.factsOf(bound).combined ||
      !growsWithRows(bound))
    return {};
  InnerBound result{bound, inclusive, {}};
  for (unsigned axis : axisList(rows))
    if (along && axis != rows.first() && axis >= along.first())
      result.along.push_back(axis);
  return result;
}

/// A bound holds where every reduction over the inner axis has it and no store
/// goes along it; a lower one, where all are sums of what is kept.
void Finder::findBounds() {
  Value where;
  for (qn::ReduceOp op : reductions) {
    if (!(model.axesOf(op.getAxes()) & inner))
      continue;
    if (!op.getWhere() || (where && op.getWhere() != where))
      return;
    where = op.getWhere();
  }
  for (qn::StoreOp store : stores)
    if (model.factsOf(store).axes & inner)
      return;
  result.upper = boundOf(where, /*isLower=*/false);
  std::size_t summed = 0;
  for (const KeptSums &sums : result.sums)
    summed += sums.tiling.products.size();
  bool isSummed = llvm::count_if(reductions, [&](qn::ReduceOp op) {
                    return bool(model.axesOf(op.getAxes()) & inner);
                  }) == std::ptrdiff_t(summed);
  if (isSummed)
    result.lower = boundOf(where, /*isLower=*/true);
}

std::optional<RowBlocks> Finder::find() {
  reductions = reductionsBehind(stores, /*all=*/true);
  if (!findScores() || result.scores.products.size() > 4)
    return std::nullopt;
  sizeTile(target, result.scores.products[0].op.getInits()[0].getType(),
           result.scores);
  result.scores.batch = axisList(batch);
  result.scores.rows = axisList(rows);
  result.scores.columns = axisList(inner);
  result.scores.rowBlock = result.inPlace
                               ? cost::rowsInPlace
                               : std::int64_t(4) * result.scores.height;
  findValues();
  keepFactors();
  keepInputs();
  keepSources();
  findResults();
  findBounds();
  if (!result.inPlace)
    pairUp(model, target, result.scores);
  for (Product &product : result.scores.products)
    chooseTurns(model, result.scores, product);
  for (KeptSums &sums : result.sums)
    for (Product &product : sums.tiling.products)
      chooseTurns(model, sums.tiling, product);
  return std::move(result);
}

std::optional<RowBlocks> quern::findRowBlocks(const KernelModel &model,
                                              const TargetInfo &target,
                                              ArrayRef<qn::StoreOp> stores,
                                              AxisSet parallel, AxisSet uneven,
                                              bool inPlace) {
  Finder finder{model, target, stores, parallel, uneven};
  finder.result.inPlace = inPlace;
  return finder.find();
}
