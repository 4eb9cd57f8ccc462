// Reads a schedule from its operations.
#include "dsl/schedule/Schedule.h"

#include "dsl/dialect/ScheduleOps.h"
#include "dsl/schedule/ScheduleFields.h"

using namespace mlir;
using namespace quern;

namespace {
/// Reads fields from the attributes of an operation.
struct FieldReader {
  const KernelModel &model;
  Operation *op;

  template <typename Number> void number(StringRef name, Number &value) {
    value = op->getAttrOfType<IntegerAttr>(name).getInt();
  }
  template <typename Number>
  void number(StringRef name, Number &value, std::int64_t absent) {
    auto found = op->getAttrOfType<IntegerAttr>(name);
    value = found ? found.getInt() : absent;
  }
  void flag(StringRef name, bool &value) { value = op->hasAttr(name); }
  void type(StringRef name, Type &value) {
    value = op->getAttrOfType<TypeAttr>(name).getValue();
  }
  template <typename Number> void axis(StringRef name, Number &value) {
    value = model.axisOf(op->getAttrOfType<StringAttr>(name));
  }
  void optionalAxis(StringRef name, int &value) {
    value = -1;
    if (op->hasAttr(name))
      axis(name, value);
  }
  void axes(StringRef name, SmallVectorImpl<unsigned> &values) {
    for (auto each :
         op->getAttrOfType<ArrayAttr>(name).getAsRange<StringAttr>())
      values.push_back(model.axisOf(each));
  }
  void optionalAxes(StringRef name, SmallVectorImpl<unsigned> &values) {
    if (op->hasAttr(name))
      axes(name, values);
  }
  void set(StringRef name, AxisSet &value) {
    value = model.axesOf(op->getAttrOfType<ArrayAttr>(name));
  }
  void choice(StringRef name, LaunchKind &value) {
    value = op->getAttrOfType<qn::LaunchKindAttr>(name).getValue();
  }
  void choice(StringRef name, RowOrder &value) {
    auto found = op->getAttrOfType<qn::RowOrderAttr>(name);
    value = found ? found.getValue() : RowOrder::InTurns;
  }
  void choice(StringRef name, TeamKind &value) {
    value = op->getAttrOfType<qn::TeamKindAttr>(name).getValue();
  }
};

class ScheduleReader {
public:
  ScheduleReader(const KernelModel &model, qn::ScheduleOp op)
      : model(model), op(op) {}

  Schedule read();

private:
  template <typename Plan> Plan planOf(Operation *op) const {
    Plan plan;
    FieldReader fields{model, op};
    eachField(fields, plan);
    return plan;
  }
  Tiling tilingOf(qn::ContractionOp op) const;
  RowBlocks blocksOf(qn::RowBlocksOp op) const;
  Columns columnsOf(qn::StateRowsOp op) const;
  LaunchPlan launchOf(qn::DispatchOp op);
  MatrixProduct productOf(qn::MatrixProductOp op) const;
  std::vector<EntryPlan> entriesOf(qn::DispatchOp op,
                                   const LaunchPlan &launch) const;
  llvm::SmallVector<AxisPlan> loopsOf(Block &block) const {
    llvm::SmallVector<AxisPlan> loops;
    for (auto loop : block.getOps<qn::ScheduledLoopOp>())
      loops.push_back(planOf<AxisPlan>(loop));
    return loops;
  }
  Tiling tilingOf(Value plan) const {
    return tilingOf(plan.getDefiningOp<qn::ContractionOp>());
  }

  const KernelModel &model;
  qn::ScheduleOp op;
  llvm::DenseMap<Value, std::shared_ptr<const Tiling>> tilings;
  llvm::DenseMap<Value, std::shared_ptr<const RowBlocks>> blocks;
  llvm::DenseMap<Value, std::shared_ptr<const Columns>> columns;
};
} // namespace

static qn::ReduceOp reductionOf(Value value) {
  return value.getDefiningOp<qn::ReduceOp>();
}

Tiling ScheduleReader::tilingOf(qn::ContractionOp op) const {
  auto tiling = planOf<Tiling>(op);
  tiling.part = op.getPart();
  for (auto each : op.getBody().getOps<qn::ProductOp>()) {
    auto product = planOf<Product>(each);
    product.op = reductionOf(each.getSum());
    product.rows = each.getRows();
    product.columns = each.getColumns();
    tiling.products.push_back(std::move(product));
  }
  return tiling;
}

RowBlocks ScheduleReader::blocksOf(qn::RowBlocksOp op) const {
  RowBlocks blocks;
  blocks.inPlace = op.getInPlace();
  blocks.scores = tilingOf(op.getScores());
  for (Operation &part : op.block()) {
    if (auto kept = dyn_cast<qn::KeptOp>(part))
      blocks.kept.push_back(
          {kept.getValue(), kept.getWhere(), kept.getReplaces()});
    if (auto sums = dyn_cast<qn::KeptSumsOp>(part)) {
      KeptSums &read = blocks.sums.emplace_back();
      read.tiling = tilingOf(sums.getSums());
      read.factors.assign(sums.getFactors().begin(), sums.getFactors().end());
    }
    if (auto result = dyn_cast<qn::KeptResultOp>(part))
      blocks.results.push_back(result.getValue());
    if (auto bound = dyn_cast<qn::InnerBoundOp>(part)) {
      InnerBound &read = bound.getUpper() ? blocks.upper : blocks.lower;
      read = planOf<InnerBound>(bound);
      read.value = bound.getValue();
    }
  }
  return blocks;
}

Columns ScheduleReader::columnsOf(qn::StateRowsOp op) const {
  auto columns = planOf<Columns>(op);
  for (Value value : op.getReductions())
    columns.members.push_back(reductionOf(value));
  llvm::append_range(columns.flat, op.getFlat());
  return columns;
}

LaunchPlan ScheduleReader::launchOf(qn::DispatchOp op) {
  auto launch = planOf<LaunchPlan>(op);
  launch.when = op.getWhen();
  for (Value value : op.getReductions())
    launch.reductions.push_back(reductionOf(value));
  for (std::int64_t number : op.getStores().value_or(ArrayRef<std::int64_t>()))
    launch.stores.push_back(model.stores[number]);
  if (auto number = op.getScatter())
    launch.scatter = model.scatters[*number];
  if (auto number = op.getCompact())
    launch.compact = model.compacts[*number];
  if (auto number = op.getSort())
    launch.sort = model.sorts[*number];
  launch.tiling = tilings.lookup(op.getContraction());
  launch.blocks = blocks.lookup(op.getBlocks());
  launch.columns = columns.lookup(op.getColumns());
  launch.axes = loopsOf(op.block());
  return launch;
}

MatrixProduct ScheduleReader::productOf(qn::MatrixProductOp op) const {
  auto product = planOf<MatrixProduct>(op);
  product.sum = reductionOf(op.getSum());
  product.left = op.getLeft();
  product.right = op.getRight();
  product.leftSide.operand =
      dyn_cast_if_present<BlockArgument>(op.getLeftOperand());
  product.rightSide.operand =
      dyn_cast_if_present<BlockArgument>(op.getRightOperand());
  return product;
}

std::vector<EntryPlan>
ScheduleReader::entriesOf(qn::DispatchOp op, const LaunchPlan &launch) const {
  std::optional<MatrixProduct> product;
  for (auto made : op.getBody().getOps<qn::MatrixProductOp>())
    product = productOf(made);
  std::vector<EntryPlan> entries;
  for (auto each : op.getBody().getOps<qn::EntryOp>()) {
    EntryPlan &entry = entries.emplace_back(EntryPlan{.launch = launch});
    FieldReader fields{model, each};
    eachField(fields, entry);
    entry.launch.axes = loopsOf(each.block());
    if (each.getProduct())
      entry.product = product;
  }
  return entries;
}

Schedule ScheduleReader::read() {
  Schedule read;
  read.staged =
      StagedSlots(model, op.getSlots().value_or(ArrayRef<std::int64_t>()));
  read.partsOffset = op.getParts();
  read.maskedAbove = op.getMaskedAbove();
  for (Operation &part : op.block()) {
    if (auto inner = dyn_cast<qn::InnerLoopOp>(part))
      read.inner.push_back(planOf<InnerLoop>(inner));
    if (auto split = dyn_cast<qn::SplitOp>(part))
      read.offsets[split.getValue()] = split.getOffset();
    if (auto made = dyn_cast<qn::ContractionOp>(part))
      tilings[made.getPlan()] = std::make_shared<const Tiling>(tilingOf(made));
    if (auto made = dyn_cast<qn::RowBlocksOp>(part))
      blocks[made.getPlan()] =
          std::make_shared<const RowBlocks>(blocksOf(made));
    if (auto made = dyn_cast<qn::StateRowsOp>(part))
      columns[made.getPlan()] =
          std::make_shared<const Columns>(columnsOf(made));
    if (auto dispatch = dyn_cast<qn::DispatchOp>(part)) {
      read.launches.push_back(launchOf(dispatch));
      read.entries.push_back(entriesOf(dispatch, read.launches.back()));
    }
  }
  return read;
}

int Schedule::laneAxis(AxisSet candidates, const LaunchPlan &launch) const {
  for (const InnerLoop &each : inner)
    if (hasAxis(candidates, each.axis) &&
        (!each.unsuited || int(each.axis) == launch.lane))
      return each.axis;
  return -1;
}

AxisPlan Schedule::innerLoop(unsigned axis, bool reduces) const {
  AxisPlan plan;
  plan.axis = axis;
  for (const InnerLoop &each : inner)
    if (each.axis == axis) {
      plan.lanes = each.lanes;
      plan.copies = reduces ? each.reduceCopies : each.copies;
    }
  return plan;
}

/// Whether the factors of a product have the axes that it names.
static bool isProduct(const KernelModel &model, const MatrixProduct &product) {
  AxisSet left = model.axesOf(product.left);
  AxisSet right = model.axesOf(product.right);
  return hasAxis(left, product.row) && !hasAxis(right, product.row) &&
         hasAxis(right, product.column) && !hasAxis(left, product.column) &&
         hasAxis(left & right, product.depth) &&
         model.axesOf(qn::ReduceOp(product.sum).getAxes()) ==
             axisBit(product.depth);
}

std::optional<Schedule> quern::takeSchedule(KernelModel &model,
                                            const TargetInfo &target) {
  auto op = dyn_cast<qn::ScheduleOp>(model.kernel.block().back());
  if (!op || op.getTarget() != target.name) {
    model.kernel.emitError()
        << "the kernel has no schedule for " << target.name;
    return std::nullopt;
  }
  Schedule schedule = ScheduleReader(model, op).read();
  for (const std::vector<EntryPlan> &entries : schedule.entries)
    for (const EntryPlan &entry : entries)
      if (entry.product && !isProduct(model, *entry.product)) {
        op.emitOpError("has a product of factors with other axes");
        return std::nullopt;
      }
  for (Operation &each : llvm::make_early_inc_range(op.block()))
    if (!isa<qn::QnDialect>(each.getDialect()) || isa<qn::SizeOp>(each))
      each.moveBefore(op);
  op.erase();
  for (auto [value, offset] : schedule.offsets)
    if (!model.isMaterialised(value.getDefiningOp()))
      model.materialise(reductionOf(value));
  return schedule;
}
