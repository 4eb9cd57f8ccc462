// What a schedule must say to be one that the lowering can follow.
#include "dsl/dialect/ScheduleOps.h"

#include "dsl/dialect/AxisSyntax.h"
#include "dsl/dialect/Behind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

#include "dsl/dialect/ScheduleEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dsl/dialect/ScheduleOps.cpp.inc"

void QnDialect::addScheduleOperations() {
  addOperations<
#define GET_OP_LIST
#include "dsl/dialect/ScheduleOps.cpp.inc"
      >();
}

/// The axes that a kernel lists or brings in.
static llvm::DenseSet<StringAttr> axesOf(RowwiseOp kernel) {
  llvm::DenseSet<StringAttr> axes;
  axes.insert_range(kernel.getAxes().getAsRange<StringAttr>());
  kernel.getBody().walk([&](AxisOp op) { axes.insert(op.getAxisAttr()); });
  return axes;
}

/// All strings of the parts of a schedule are names of axes.
static LogicalResult verifyNames(ScheduleOp schedule, RowwiseOp kernel) {
  llvm::DenseSet<StringAttr> known = axesOf(kernel);
  auto check = [&](Operation *part, Attribute name) -> WalkResult {
    auto axis = dyn_cast<StringAttr>(name);
    if (axis && !known.contains(axis))
      return part->emitOpError() << "the kernel has no axis " << axis;
    return WalkResult::advance();
  };
  WalkResult done = schedule.getBody().walk([&](Operation *part) -> WalkResult {
    for (NamedAttribute each : part->getAttrs()) {
      SmallVector<Attribute> names{each.getValue()};
      if (auto list = dyn_cast<ArrayAttr>(each.getValue()))
        llvm::append_range(names, list);
      for (Attribute name : names)
        if (check(part, name).wasInterrupted())
          return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(done.wasInterrupted());
}

bool qn::isOfHost(Value value) {
  return holdsBehind(value, [](Value each) {
    Operation *op = each.getDefiningOp();
    if (!op) {
      Operation *owner = cast<BlockArgument>(each).getOwner()->getParentOp();
      bool isScalar = isa<RowwiseOp>(owner) && each.getType().isInteger(64);
      return isScalar ? Found::Yes : Found::No;
    }
    if (isa<SizeOp>(op))
      return Found::Yes;
    bool isPlain = isa<IntegerType>(each.getType()) &&
                   (isa<arith::ArithDialect>(op->getDialect()) ||
                    isa<math::CountLeadingZerosOp>(op));
    return isPlain ? Found::IfBehind : Found::No;
  });
}

/// Whether a host value is above zero for every call. Nested choices are
/// followed to a small depth.
static bool isPositive(Value value, unsigned depth = 0) {
  constexpr unsigned deepest = 6;
  if (depth == deepest)
    return false;
  auto also = [&](Value part) { return isPositive(part, depth + 1); };
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return number.isStrictlyPositive();
  if (auto larger = value.getDefiningOp<arith::MaxSIOp>())
    return also(larger.getLhs()) || also(larger.getRhs());
  if (auto choice = value.getDefiningOp<arith::SelectOp>())
    return also(choice.getTrueValue()) && also(choice.getFalseValue());
  return false;
}

/// Tasks compute the sizes of parts, too, and a division by zero would end the
/// process.
static bool dividesSafely(Operation &op) {
  bool isDivision =
      isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp,
          arith::CeilDivUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  return !isDivision || isPositive(op.getOperand(1));
}

/// Besides its parts a schedule has what the host computes.
static LogicalResult verifyHost(ScheduleOp schedule) {
  for (Operation &op : schedule.block()) {
    bool isPart = isa<InnerLoopOp, SplitOp, ContractionOp, RowBlocksOp,
                      StateRowsOp, DispatchOp>(op);
    if (!isPart && !llvm::all_of(op.getResults(), isOfHost))
      return op.emitOpError("is nothing that the host can compute");
    if (!isPart && op.getNumResults() == 0)
      return op.emitOpError("is no part of a schedule");
    if (!isPart && !dividesSafely(op))
      return op.emitOpError("divides by a number that may be zero");
  }
  return success();
}

/// Operands of one slot have elements of one size and the same axes.
static LogicalResult verifySlots(ScheduleOp schedule, RowwiseOp kernel) {
  ArrayRef<std::int64_t> slots =
      schedule.getSlots().value_or(ArrayRef<std::int64_t>());
  unsigned first = kernel.callerArguments();
  auto staged = kernel.block().getArguments().drop_front(first);
  if (slots.size() != staged.size())
    return schedule.emitOpError() << slots.size() << " slots for "
                                  << staged.size() << " staged operands";
  llvm::DenseMap<std::int64_t, OperandType> types;
  for (auto [slot, argument] : llvm::zip(slots, staged)) {
    auto type = cast<OperandType>(argument.getType());
    if (slot < 0 || slot >= std::int64_t(slots.size()))
      return schedule.emitOpError()
             << "slot " << slot << " of " << slots.size();
    OperandType other = types.try_emplace(slot, type).first->second;
    if (other.getAxes() != type.getAxes() ||
        other.getElementType().getIntOrFloatBitWidth() !=
            type.getElementType().getIntOrFloatBitWidth())
      return schedule.emitOpError()
             << "slot " << slot << " holds operands of two shapes";
  }
  for (std::int64_t slot = 0; slot < std::int64_t(types.size()); ++slot)
    if (!types.contains(slot))
      return schedule.emitOpError() << "nothing lies in slot " << slot;
  return success();
}

/// Every store, scatter, compaction and sort belongs to some dispatch.
static LogicalResult verifyComplete(ScheduleOp schedule, RowwiseOp kernel) {
  auto check =
      [&](std::int64_t count, StringRef kind,
          llvm::function_ref<SmallVector<std::int64_t>(DispatchOp)> numbersOf)
      -> LogicalResult {
    llvm::SmallDenseSet<std::int64_t> made;
    for (auto dispatch : schedule.getBody().getOps<DispatchOp>())
      for (std::int64_t number : numbersOf(dispatch)) {
        made.insert(number);
        if (number < 0 || number >= count)
          return dispatch.emitOpError()
                 << "the kernel has no " << kind << " of number " << number;
      }
    for (std::int64_t number = 0; number < count; ++number)
      if (!made.contains(number))
        return schedule.emitOpError()
               << "no dispatch makes " << kind << " " << number;
    return success();
  };
  auto only = [](std::optional<std::uint64_t> number) {
    return number ? SmallVector<std::int64_t>{std::int64_t(*number)}
                  : SmallVector<std::int64_t>();
  };
  Block &body = kernel.block();
  auto count = [&](auto kind) {
    return llvm::range_size(body.getOps<decltype(kind)>());
  };
  return failure(
      failed(check(count(StoreOp()), "store",
                   [](DispatchOp op) {
                     return llvm::to_vector(
                         op.getStores().value_or(ArrayRef<std::int64_t>()));
                   })) ||
      failed(check(count(ScatterOp()), "scatter",
                   [&](DispatchOp op) { return only(op.getScatter()); })) ||
      failed(check(count(CompactOp()), "compaction",
                   [&](DispatchOp op) { return only(op.getCompact()); })) ||
      failed(check(count(SortOp()), "sort",
                   [&](DispatchOp op) { return only(op.getSort()); })));
}

/// Results that tasks share lie in front of the parts they are made of.
static LogicalResult verifySplits(ScheduleOp schedule) {
  for (auto split : schedule.getBody().getOps<SplitOp>()) {
    if (!split.getValue().getDefiningOp<ReduceOp>())
      return split.emitOpError("names no result of a reduction");
    if (split.getOffset() % 8 || split.getOffset() + 8 > schedule.getParts())
      return split.emitOpError("lies among the parts, or not at a word");
  }
  if (schedule.getParts() % 8 || schedule.getParts() > std::uint64_t(1) << 30)
    return schedule.emitOpError("has parts that do not begin at a word");
  return success();
}

/// No axis has two rules for the loops over it.
static LogicalResult verifyInner(ScheduleOp schedule) {
  llvm::DenseSet<Attribute> seen;
  for (auto inner : schedule.getBody().getOps<InnerLoopOp>())
    if (!seen.insert(inner.getAxisAttr()).second)
      return inner.emitOpError()
             << "comes a second time for the axis " << inner.getAxisAttr();
  return success();
}

LogicalResult ScheduleOp::verifyRegions() {
  auto kernel = cast<RowwiseOp>((*this)->getParentOp());
  if (&kernel.block().back() != getOperation())
    return emitOpError("is not the last operation of its kernel");
  return failure(failed(verifyNames(*this, kernel)) ||
                 failed(verifyHost(*this)) ||
                 failed(verifySlots(*this, kernel)) ||
                 failed(verifyComplete(*this, kernel)) ||
                 failed(verifySplits(*this)) || failed(verifyInner(*this)));
}

/// What can be written out: a power of two of lanes, and so many copies.
static LogicalResult verifyVectors(Operation *op, std::uint64_t lanes,
                                   ArrayRef<std::uint64_t> copies) {
  constexpr std::uint64_t most = 64;
  if (!llvm::isPowerOf2_64(lanes) || lanes > most)
    return op->emitOpError("lanes are a power of two up to 64");
  for (std::uint64_t count : copies)
    if (count < 1 || count > most)
      return op->emitOpError("copies are 1 to 64");
  return success();
}

LogicalResult InnerLoopOp::verify() {
  return verifyVectors(*this, getLanes(), {getCopies(), getReduceCopies()});
}

/// Whether a value is the first result of a reduction.
static bool isReduction(Value value) {
  auto op = value.getDefiningOp<ReduceOp>();
  return op && op->getResult(0) == value;
}

LogicalResult qn::verifyReductions(Operation *op, ValueRange values) {
  for (Value value : values)
    if (!isReduction(value))
      return op->emitOpError("takes first results of reductions");
  return success();
}

LogicalResult ProductOp::verify() { return verifyReductions(*this, getSum()); }

LogicalResult StateRowsOp::verify() {
  if (getReductions().empty())
    return emitOpError("has no reduction");
  constexpr std::uint64_t largest = std::uint64_t(1) << 40;
  for (std::uint64_t count : {getLanes(), getUnrolled(), getWidth(),
                              getPartRows(), getWorthwhile(), getTogether()})
    if (count < 1 || count > largest)
      return emitOpError("has counts of 1 to 2^40");
  if (!llvm::isPowerOf2_64(getLanes()) || getLanes() > 64 || getUnrolled() > 64)
    return emitOpError("has at most 64 lanes, a power of two, and 64 rows of "
                       "one pass");
  bool isReduced = getLaneAttr() == getRowsAttr() ||
                   llvm::is_contained(getBefore(), getLaneAttr());
  if (getIsRow() != isReduced)
    return emitOpError("is a row if its lanes run along a reduced axis");
  return verifyReductions(*this, getReductions());
}

/// The register tile and the blocks of a contraction have sizes, and the
/// sizes end: a tile is written out.
static LogicalResult verifySizes(ContractionOp op) {
  constexpr std::uint64_t largest = std::uint64_t(1) << 30;
  for (std::uint64_t size : {op.getHeight(), op.getLanes(), op.getVectors(),
                             op.getRowBlock(), op.getPanels(), op.getDepth()})
    if (size < 1 || size > largest)
      return op.emitOpError("has sizes of 1 to 2^30");
  if (!llvm::isPowerOf2_64(op.getLanes()) || op.getLanes() > 64 ||
      op.getHeight() > 64 || op.getHeight() * op.getVectors() > 128)
    return op.emitOpError("has a tile that no registers hold");
  if (op.getPairs() && op.getDepth() % 2)
    return op.emitOpError("packs pairs of an odd number of steps");
  std::uint64_t line = op.getLineColumns().value_or(1);
  if (line < 1 || line > largest)
    return op.emitOpError("has lines of 1 to 2^30 columns");
  if (op.getPart() && !isOfHost(op.getPart()))
    return op.emitOpError("has parts of a size that the host does not know");
  if (op.getPart() && !isPositive(op.getPart()))
    return op.emitOpError("has parts of a size that may be zero");
  return success();
}

LogicalResult ContractionOp::verifyRegions() {
  if (block().empty())
    return emitOpError("has no product");
  if (getRows().empty() || getColumns().empty())
    return emitOpError("has no rows or no columns");
  return verifySizes(*this);
}

LogicalResult RowBlocksOp::verifyRegions() {
  std::int64_t kept = llvm::range_size(getBody().getOps<KeptOp>());
  for (auto sums : getBody().getOps<KeptSumsOp>()) {
    auto products = sums.getSums().getDefiningOp<ContractionOp>();
    if (!products ||
        products.block().getOperations().size() != sums.getFactors().size())
      return sums.emitOpError("has not one factor for each product");
    for (std::int64_t factor : sums.getFactors())
      if (factor < 0 || factor >= kept)
        return sums.emitOpError()
               << "has factor " << factor << " of " << kept << " kept values";
  }
  return success();
}

LogicalResult ScheduledLoopOp::verify() {
  if (failed(verifyVectors(*this, getLanes(),
                           {getCopies(), getRestCopies().value_or(1)})))
    return failure();
  constexpr std::uint64_t largest = std::uint64_t(1) << 40;
  for (std::optional<std::uint64_t> count :
       {std::optional(getTile()), getNarrow(), getNarrowBelow(), getSeveral(),
        getSeveralFrom(), getEvenCount(), getEvenStep(), getMost()})
    if (count && (*count < 1 || *count > largest))
      return emitOpError("counts are positive, and below 2^40");
  if (getNarrow().has_value() != getNarrowBelow().has_value() ||
      getSeveral().has_value() != getSeveralFrom().has_value() ||
      getEvenCount().has_value() != getEvenStep().has_value())
    return emitOpError("says when tiles have another size, but not which");
  return success();
}
