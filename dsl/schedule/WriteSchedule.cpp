// Writes a schedule as operations.
#include "dsl/dialect/Depth.h"
#include "dsl/dialect/ScheduleOps.h"
#include "dsl/schedule/ScheduleChooser.h"
#include "dsl/schedule/ScheduleFields.h"
#include "dsl/schedule/SplitJoined.h"

using namespace mlir;
using namespace quern;

namespace {
/// Collects fields as attributes.
struct FieldWriter {
  const KernelModel &model;
  Builder builder;
  NamedAttrList attributes = {};

  void number(StringRef name, std::int64_t value) {
    attributes.set(name, builder.getI64IntegerAttr(value));
  }
  void number(StringRef name, std::int64_t value, std::int64_t absent) {
    if (value != absent)
      number(name, value);
  }
  void flag(StringRef name, bool value) {
    if (value)
      attributes.set(name, builder.getUnitAttr());
  }
  void type(StringRef name, Type value) {
    attributes.set(name, TypeAttr::get(value));
  }
  void axis(StringRef name, unsigned axis) {
    attributes.set(name, model.nameOf(axis));
  }
  void optionalAxis(StringRef name, int value) {
    if (value >= 0)
      axis(name, value);
  }
  void axes(StringRef name, ArrayRef<unsigned> values) {
    SmallVector<Attribute> names;
    for (unsigned value : values)
      names.push_back(model.nameOf(value));
    attributes.set(name, builder.getArrayAttr(names));
  }
  void optionalAxes(StringRef name, ArrayRef<unsigned> values) {
    if (!values.empty())
      axes(name, values);
  }
  void set(StringRef name, const AxisSet &value) {
    axes(name, axisList(value));
  }
  void choice(StringRef name, LaunchKind value) {
    attributes.set(name, qn::LaunchKindAttr::get(builder.getContext(), value));
  }
  void choice(StringRef name, RowOrder value) {
    if (value != RowOrder::InTurns)
      attributes.set(name, qn::RowOrderAttr::get(builder.getContext(), value));
  }
  void choice(StringRef name, TeamKind value) {
    attributes.set(name, qn::TeamKindAttr::get(builder.getContext(), value));
  }
};

class ScheduleWriter {
public:
  ScheduleWriter(const KernelModel &model, const Schedule &made)
      : model(model), made(made), builder(model.kernel.getContext()),
        loc(model.kernel.getLoc()) {}

  void write(const TargetInfo &target);

private:
  template <typename Op>
  Op make(ValueRange operands, FieldWriter &fields, bool isFrame = false);
  template <typename Op, typename Plan>
  Op make(ValueRange operands, const Plan &plan, bool isFrame = false) {
    FieldWriter fields{model, builder};
    eachField(fields, plan);
    return make<Op>(operands, fields, isFrame);
  }
  Value planOf(const Tiling &tiling);
  Value planOf(const RowBlocks &blocks);
  Value planOf(const Columns &columns);
  void writeBound(const InnerBound &bound, bool isUpper);
  void writeDispatch(const LaunchPlan &launch, ArrayRef<EntryPlan> entries);
  void writeProduct(const MatrixProduct &product);
  void writeEntries(ArrayRef<EntryPlan> entries);
  void writeLoops(ArrayRef<AxisPlan> axes) {
    for (const AxisPlan &axis : axes)
      make<qn::ScheduledLoopOp>({}, axis);
  }
  /// The operation of what several launches share, made with the first.
  template <typename Plan>
  Value shared(const std::shared_ptr<const Plan> &plan) {
    auto [place, isNew] = plans.try_emplace(plan.get());
    if (isNew)
      place->second = planOf(*plan);
    return plans.lookup(plan.get());
  }

  const KernelModel &model;
  const Schedule &made;
  OpBuilder builder;
  Location loc;
  llvm::DenseMap<const void *, Value> plans;
};
} // namespace

template <typename Op>
Op ScheduleWriter::make(ValueRange operands, FieldWriter &fields,
                        bool isFrame) {
  OperationState state(loc, Op::getOperationName(), operands, {},
                       fields.attributes);
  if constexpr (Op::template hasTrait<OpTrait::OneResult>())
    state.addTypes(qn::PlanType::get(builder.getContext()));
  if (isFrame)
    state.addRegion()->emplaceBlock();
  return cast<Op>(builder.create(state));
}

Value ScheduleWriter::planOf(const Tiling &tiling) {
  SmallVector<Value> operands;
  if (tiling.part)
    operands.push_back(tiling.part);
  auto op = make<qn::ContractionOp>(operands, tiling, /*isFrame=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.block());
  for (const Product &product : tiling.products)
    make<qn::ProductOp>(
        {qn::ReduceOp(product.op)->getResult(0), product.rows, product.columns},
        product);
  return op.getPlan();
}

void ScheduleWriter::writeBound(const InnerBound &bound, bool isUpper) {
  if (!bound.value)
    return;
  FieldWriter fields{model, builder};
  eachField(fields, bound);
  fields.flag("upper", isUpper);
  make<qn::InnerBoundOp>(bound.value, fields);
}

Value ScheduleWriter::planOf(const RowBlocks &blocks) {
  Value scores = planOf(blocks.scores);
  SmallVector<Value> sums;
  for (const KeptSums &each : blocks.sums)
    sums.push_back(planOf(each.tiling));
  FieldWriter fields{model, builder};
  fields.flag("in_place", blocks.inPlace);
  auto op = make<qn::RowBlocksOp>(scores, fields, /*isFrame=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.block());
  for (const KeptValue &kept : blocks.kept)
    qn::KeptOp::create(builder, loc, kept.value, kept.where, kept.replaces);
  for (auto [plan, each] : llvm::zip(sums, blocks.sums))
    qn::KeptSumsOp::create(
        builder, loc, plan,
        SmallVector<std::int64_t>(each.factors.begin(), each.factors.end()));
  for (Value value : blocks.results)
    qn::KeptResultOp::create(builder, loc, value);
  writeBound(blocks.lower, /*isUpper=*/false);
  writeBound(blocks.upper, /*isUpper=*/true);
  return op.getPlan();
}

static void addReductions(ArrayRef<qn::ReduceOp> reductions,
                          SmallVectorImpl<Value> &operands) {
  for (qn::ReduceOp op : reductions)
    operands.push_back(op->getResult(0));
}

/// The operands of an operation that has several lists of them.
static void setSegments(FieldWriter &fields, ArrayRef<std::int32_t> counts) {
  fields.attributes.set("operandSegmentSizes",
                        fields.builder.getDenseI32ArrayAttr(counts));
}

Value ScheduleWriter::planOf(const Columns &columns) {
  SmallVector<Value> operands;
  addReductions(columns.members, operands);
  llvm::append_range(operands, columns.flat);
  FieldWriter fields{model, builder};
  eachField(fields, columns);
  setSegments(fields, {std::int32_t(columns.members.size()),
                       std::int32_t(columns.flat.size())});
  return make<qn::StateRowsOp>(operands, fields).getPlan();
}

/// The number of an operation among those of its kind.
template <typename Op> static std::int64_t numberOf(ArrayRef<Op> all, Op op) {
  return llvm::find(all, op) - all.begin();
}

void ScheduleWriter::writeProduct(const MatrixProduct &product) {
  SmallVector<Value> operands{qn::ReduceOp(product.sum)->getResult(0),
                              product.left, product.right};
  SmallVector<std::int32_t> segments{1, 1, 1};
  for (const MatrixProduct::Side *side :
       {&product.leftSide, &product.rightSide}) {
    segments.push_back(side->operand ? 1 : 0);
    if (side->operand)
      operands.push_back(side->operand);
  }
  FieldWriter fields{model, builder};
  eachField(fields, product);
  setSegments(fields, segments);
  make<qn::MatrixProductOp>(operands, fields);
}

void ScheduleWriter::writeEntries(ArrayRef<EntryPlan> entries) {
  const auto *made = llvm::find_if(
      entries, [](const EntryPlan &entry) { return bool(entry.product); });
  if (made != entries.end())
    writeProduct(*made->product);
  for (const EntryPlan &entry : entries) {
    FieldWriter fields{model, builder};
    eachField(fields, entry);
    fields.flag("product", entry.product.has_value());
    auto op = make<qn::EntryOp>({}, fields, /*isFrame=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op.block());
    writeLoops(entry.launch.axes);
  }
}

void ScheduleWriter::writeDispatch(const LaunchPlan &launch,
                                   ArrayRef<EntryPlan> entries) {
  SmallVector<Value> operands;
  addReductions(launch.reductions, operands);
  FieldWriter fields{model, builder};
  SmallVector<std::int32_t> segments{std::int32_t(operands.size())};
  auto add = [&](const auto &plan) {
    segments.push_back(plan ? 1 : 0);
    if (plan)
      operands.push_back(shared(plan));
  };
  add(launch.tiling);
  add(launch.blocks);
  add(launch.columns);
  segments.push_back(launch.when ? 1 : 0);
  if (launch.when)
    operands.push_back(launch.when);
  eachField(fields, launch);
  setSegments(fields, segments);
  SmallVector<std::int64_t> stores;
  for (qn::StoreOp store : launch.stores)
    stores.push_back(numberOf<qn::StoreOp>(model.stores, store));
  if (!stores.empty())
    fields.attributes.set("stores", builder.getDenseI64ArrayAttr(stores));
  if (launch.scatter)
    fields.number("scatter",
                  numberOf<qn::ScatterOp>(model.scatters, launch.scatter));
  if (launch.compact)
    fields.number("compact",
                  numberOf<qn::CompactOp>(model.compacts, launch.compact));
  if (launch.sort)
    fields.number("sort", numberOf<qn::SortOp>(model.sorts, launch.sort));
  auto op = make<qn::DispatchOp>(operands, fields, /*isFrame=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.block());
  if (entries.empty())
    return writeLoops(launch.axes);
  writeEntries(entries);
}

void ScheduleWriter::write(const TargetInfo &target) {
  builder.setInsertionPointToEnd(&model.kernel.block());
  FieldWriter fields{model, builder};
  fields.attributes.set("target", builder.getStringAttr(target.name));
  if (ArrayRef<std::int64_t> slots = made.staged.numbers(); !slots.empty())
    fields.attributes.set("slots", builder.getDenseI64ArrayAttr(slots));
  fields.number("parts", made.partsOffset);
  if (made.maskedAbove)
    fields.number("masked_above", *made.maskedAbove);
  auto op = make<qn::ScheduleOp>({}, fields, /*isFrame=*/true);
  op.block().getOperations().splice(op.block().end(),
                                    made.host->getOperations());
  builder.setInsertionPointToEnd(&op.block());
  for (const InnerLoop &inner : made.inner)
    make<qn::InnerLoopOp>({}, inner);
  for (auto [value, offset] : made.offsets)
    qn::SplitOp::create(builder, loc, value, offset);
  for (auto [number, launch] : llvm::enumerate(made.launches)) {
    ArrayRef<EntryPlan> entries;
    if (!made.entries.empty())
      entries = made.entries[number];
    writeDispatch(launch, entries);
  }
}

LogicalResult quern::scheduleKernel(qn::RowwiseOp kernel,
                                    const TargetInfo &target) {
  if (isTooDeep(kernel))
    return failure();
  if (target.isGpu())
    splitJoined(kernel);
  KernelModel model(kernel);
  if (!model.valid)
    return failure();
  Schedule made = ScheduleChooser(model, target).schedule();
  if (target.isGpu())
    for (const LaunchPlan &launch : made.launches)
      made.entries.push_back(planEntries(model, launch, target));
  ScheduleWriter(model, made).write(target);
  return success();
}
