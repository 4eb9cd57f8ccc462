// Values that one launch leaves in the workspace for those behind it.
#include "dsl/irgen/Generator.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

mlir::Value Generator::addStaged(Type element, ArrayRef<Place> places) {
  SmallVector<StringAttr, 4> axes;
  for (const Place &place : places)
    axes.push_back(place.name);
  return llvm::cast<qn::RowwiseOp>(body->getParentOp())
      .addStaged(element, axes, b.location);
}

/// Arms are taken apart where they hold what must stand outside of them.
void Generator::setInsertionPointOutside() {
  Operation *loop = nullptr;
  for (Operation *op = builder.getInsertionBlock()->getParentOp();
       op != body->getParentOp(); op = op->getParentOp())
    if (!isa<scf::IfOp>(op))
      loop = op;
  if (loop)
    builder.setInsertionPoint(loop);
}

void Generator::atTop(llvm::function_ref<void()> make) {
  OpBuilder::InsertionGuard guard(builder);
  setInsertionPointOutside();
  const Substitution *outer = std::exchange(substitution, nullptr);
  auto outerConditions = std::exchange(conditions, {});
  bool guarded = std::exchange(readsAreGuarded, false);
  bool checked = std::exchange(readsAreChecked,
                               !request.declaration.attributes.unchecked &&
                                   !frame->declaration.attributes.unchecked);
  make();
  readsAreChecked = checked;
  readsAreGuarded = guarded;
  conditions = std::move(outerConditions);
  substitution = outer;
}

/// Whether a value that is to be stored in front of the loops around cannot be:
/// it has an axis of its own, or is another one in every round.
bool Generator::staysInside(const Expression &expression,
                            ArrayRef<Place> places) {
  if (llvm::any_of(places,
                   [](const Place &place) { return bool(place.position); })) {
    unsupported(expression.span, "a value along an axis that is not the "
                                 "kernel's own is read elsewhere");
    return true;
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *here = builder.getInsertionBlock();
  setInsertionPointOutside();
  bool isInLoop = builder.getInsertionBlock() != here;
  if (!isInLoop || !changes(expression))
    return false;
  unsupported(expression.span, "this is made anew in every round of a loop, "
                               "and more than 32 rounds are not written out");
  return true;
}

/// Whether a read at the substitutions in force is to report a bad position.
bool Generator::movesAreChecked(ArrayRef<Place> places) const {
  return readsAreChecked && llvm::any_of(places, [&](const Place &place) {
           const Substitution *row = substitutionOf(place.name, substitution);
           return row && !row->isInRange;
         });
}

/// The element where the axes stand now; a read that may miss gives 0.
mlir::Value Generator::readStaged(mlir::Value tensor, ArrayRef<Place> places,
                                  IntegerAttr part) {
  Type element = llvm::cast<qn::OperandType>(tensor.getType()).getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  bool moved = llvm::any_of(places, [&](const Place &place) {
    return substitutionOf(place.name, substitution);
  });
  SmallVector<mlir::Value, 4> indices;
  if (moved)
    for (const Place &place : places)
      indices.push_back(positionOf(place));
  mlir::Value missing, when;
  bool checked = !readsAreGuarded && movesAreChecked(places);
  if (moved && readsAreGuarded)
    missing = b.create<arith::ConstantOp>(
        llvm::cast<TypedAttr>(builder.getZeroAttr(element)));
  if (checked || missing)
    when = predicate(/*ofPlaces=*/!checked);
  if (checked)
    b.created += lengthOfCheck;
  auto op = b.create<qn::LoadOp>(element, tensor, indices, missing, when,
                                 checked, part);
  markIndices(op, indices, checked && moved, movedPlaces(places));
  return op;
}

irgen::Value Generator::staged(const Expression &expression) {
  const typed::Type &type = *expression.type;
  SmallVector<Place, 4> places = placesOf(type);
  if (staysInside(expression, places))
    return zeroOf(type);
  if (changes(expression))
    stages.erase({frame, &expression});
  auto [entry, isNew] = stages.try_emplace({frame, &expression});
  Stage &stage = entry->second;
  if (isNew)
    atTop([&] {
      stage.like = {evaluate(expression)};
      for (mlir::Value value : flatten(stage.like)) {
        stage.tensors.push_back(addStaged(value.getType(), places));
        b.create<qn::StoreOp>(value, stage.tensors.back(), IntegerAttr());
      }
    });
  SmallVector<mlir::Value, 2> read;
  for (mlir::Value tensor : stage.tensors)
    read.push_back(readStaged(tensor, places));
  return unflatten(stage.like, read).front();
}

/// A scatter whose value is used: the operand it goes into is whole before it
/// is read.
Scalar Generator::stagedScatter(const typed::ScatterExpression &expression,
                                Frame *scatterFrame) {
  Frame *outer = std::exchange(frame, scatterFrame);
  SmallVector<Place, 4> places = placesOf(expression.axes());
  // It is rounded where it is stored for good, not here.
  ElementType element = computeTypeOf(frame->type(expression.scalar()));
  if (staysInside(expression, places)) {
    frame = outer;
    return zeroOf(element).scalar;
  }
  if (changes(expression))
    stages.erase({frame, &expression});
  auto [entry, isNew] = stages.try_emplace({frame, &expression});
  Stage &stage = entry->second;
  if (isNew)
    atTop([&] {
      Type stored = storageType(builder.getContext(), element);
      stage.tensors.push_back(addStaged(stored, places));
      scatter(expression, stage.tensors.front(), element,
              scatterConditions.lookup({frame, &expression}));
    });
  Scalar result = zeroOf(element).scalar;
  if (errors.empty() && kindOf(element) == ElementKind::Complex)
    result = {
        element,
        readStaged(stage.tensors.front(), places, builder.getI64IntegerAttr(0)),
        readStaged(stage.tensors.front(), places,
                   builder.getI64IntegerAttr(1))};
  else if (errors.empty())
    result = b.fromStorage(readStaged(stage.tensors.front(), places), element);
  frame = outer;
  return result;
}

void irgen::axesBehind(mlir::Value value, llvm::DenseSet<StringAttr> &axes,
                       llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *made = value.getDefiningOp();
  if (!made || !seen.insert(made).second)
    return;
  made->walk([&](Operation *op) {
    if (auto index = dyn_cast<qn::IndexOp>(op))
      axes.insert(index.getAxisAttr());
    auto load = dyn_cast<qn::LoadOp>(op);
    if (load && load.getIndices().empty())
      axes.insert_range(load.getTensor().getType().getAxes());
    for (mlir::Value operand : op->getOperands())
      axesBehind(operand, axes, seen);
  });
}

std::optional<SmallVector<Attribute, 4>>
Generator::kernelAxesBehind(mlir::Value value) const {
  llvm::DenseSet<StringAttr> found;
  llvm::SmallPtrSet<Operation *, 16> seen;
  axesBehind(value, found, seen);
  if (llvm::any_of(seen, [](Operation *op) { return isa<qn::AxisOp>(op); }))
    return std::nullopt;
  SmallVector<Attribute, 4> axes(found.begin(), found.end());
  llvm::sort(axes, [](Attribute one, Attribute other) {
    return cast<StringAttr>(one).getValue() <
           cast<StringAttr>(other).getValue();
  });
  return axes;
}

bool Generator::captures(ArrayRef<Place> over) const {
  llvm::DenseSet<StringAttr> axes;
  llvm::SmallPtrSet<Operation *, 16> seen;
  auto isRemoved = [&](StringAttr axis) {
    return llvm::any_of(over,
                        [&](const Place &place) { return place.name == axis; });
  };
  for (const Substitution *row = substitution; row; row = row->outer)
    if (row->position && !isRemoved(row->axis) &&
        substitutionOf(row->axis, substitution) == row)
      axesBehind(row->position, axes, seen);
  return llvm::any_of(
      over, [&](const Place &place) { return axes.contains(place.name); });
}

llvm::SmallVector<Condition, 4>
Generator::conditionsAlong(ArrayRef<Place> over) const {
  llvm::SmallVector<Condition, 4> same;
  for (const Condition &condition : conditions) {
    llvm::DenseSet<StringAttr> axes;
    llvm::SmallPtrSet<Operation *, 16> seen;
    axesBehind(condition.value, axes, seen);
    if (llvm::none_of(over, [&](const Place &place) {
          return axes.contains(place.name);
        }))
      same.push_back(condition);
  }
  return same;
}

/// Whether the loops of a scatter, one position after the other, carry a scan
/// that they take values of: its axis is their innermost, it does not read what
/// they write, and there is little that lanes would make sooner.
static bool canCarry(qn::ScatterOp scatter, qn::ScanOp scan) {
  auto kernel = cast<qn::RowwiseOp>(scatter->getParentOp());
  int own = kernel.axisNumber(scan.getAxis());
  llvm::DenseSet<StringAttr> axes;
  llvm::SmallPtrSet<Operation *, 16> seen;
  for (mlir::Value operand : scatter->getOperands())
    axesBehind(operand, axes, seen);
  if (ArrayAttr over = scatter.getOverAttr())
    axes.insert_range(over.getAsRange<StringAttr>());
  constexpr unsigned fewOperations = 48;
  return !scan.getReverse() && seen.size() <= fewOperations &&
         llvm::all_of(
             axes,
             [&](StringAttr axis) { return kernel.axisNumber(axis) <= own; }) &&
         llvm::none_of(seen, [&](Operation *op) {
           auto load = dyn_cast<qn::LoadOp>(op);
           return isa<qn::AxisOp>(op) ||
                  (load && load.getTensor() == scatter.getTensor());
         });
}

/// Whether the loops of a reduction carry a scan that it takes values of, as
/// their innermost.
static bool canCarry(qn::ReduceOp reduction, qn::ScanOp scan) {
  ArrayRef<Attribute> axes = reduction.getAxes().getValue();
  Attribute axis = scan.getAxisAttr();
  return reduction.getOrdered() ? axes.back() == axis
                                : llvm::is_contained(axes, axis);
}

/// Whether something runs along other axes than the scan and takes its values:
/// they cannot come from one loop.
static bool feedsOtherLoops(qn::ScanOp scan, bool isGpu) {
  SmallVector<mlir::Value> open(scan->getResults());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      Operation *op = scan->getBlock()->findAncestorOpInBlock(*user);
      if (!op || !seen.insert(op).second)
        continue;
      auto reduction = dyn_cast<qn::ReduceOp>(op);
      auto scatter = dyn_cast<qn::ScatterOp>(op);
      if ((scatter && (isGpu || !canCarry(scatter, scan))) ||
          (reduction && !canCarry(reduction, scan)))
        return true;
      if (!reduction)
        llvm::append_range(open, op->getResults());
    }
  return false;
}

/// Loops that go backwards would step from the last position to the first.
static bool goesForward(qn::ReduceOp op, StringAttr axis) {
  if (op.getOrdered() && llvm::is_contained(op.getAxes(), Attribute(axis)))
    return true;
  return llvm::any_of(op.getInputs(), [&](mlir::Value input) {
    auto place = input.getDefiningOp<qn::IndexOp>();
    return place && place.getAxisAttr() == axis;
  });
}

void Generator::stageScans() {
  auto differs = [&](qn::ScanOp scan, Operation &other) {
    if (auto reduction = dyn_cast<qn::ReduceOp>(other))
      return scan.getReverse() && goesForward(reduction, scan.getAxisAttr());
    if (auto sort = dyn_cast<qn::SortOp>(other))
      return sort.getAxisAttr() != scan.getAxisAttr();
    auto second = dyn_cast<qn::ScanOp>(other);
    return second && (second.getAxis() != scan.getAxis() ||
                      second.getReverse() != scan.getReverse());
  };
  bool hasPortable = llvm::any_of(body->getOps<qn::ReduceOp>(),
                                  [](auto op) { return op.getPortable(); });
  for (auto &[scan, places] : scans) {
    bool isAlone = llvm::none_of(
        *body, [&, scan = scan](Operation &op) { return differs(scan, op); });
    // The order of a portable reduction is not that of a scan.
    if (isAlone && !hasPortable &&
        !feedsOtherLoops(scan, request.target.isGpu()))
      continue;
    OpBuilder::InsertionGuard guard(builder);
    b.location = scan.getLoc();
    for (mlir::Value result : scan->getResults()) {
      builder.setInsertionPointAfter(scan);
      mlir::Value tensor = addStaged(result.getType(), places);
      auto store = b.create<qn::StoreOp>(result, tensor, IntegerAttr());
      builder.setInsertionPointAfter(store);
      mlir::Value read = b.create<qn::LoadOp>(
          result.getType(), tensor, ValueRange(), mlir::Value(), mlir::Value(),
          false, IntegerAttr());
      result.replaceAllUsesExcept(read, store);
    }
  }
}

/// What was stored is read from there on, so that launches behind each other
/// do not make again what those in front of them made.
void Generator::readStagedBack() {
  auto kernel = llvm::cast<qn::RowwiseOp>(body->getParentOp());
  for (auto store : llvm::to_vector(body->getOps<qn::StoreOp>())) {
    if (!kernel.isStaged(store.getTensor()) || store.getPart())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(store);
    b.location = store.getLoc();
    mlir::Value value = store.getValue();
    mlir::Value read = b.create<qn::LoadOp>(
        value.getType(), store.getTensor(), ValueRange(), mlir::Value(),
        mlir::Value(), false, IntegerAttr());
    value.replaceUsesWithIf(read, [&](OpOperand &use) {
      Operation *user = body->findAncestorOpInBlock(*use.getOwner());
      return user && read.getDefiningOp()->isBeforeInBlock(user);
    });
    if (read.use_empty())
      read.getDefiningOp()->erase();
  }
}

/// Operations whose results nobody uses, the last ones first.
static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static bool isRead(BlockArgument staged) {
  return llvm::any_of(staged.getUsers(), [](Operation *user) {
    return !isa<qn::StoreOp, qn::SortOp, qn::ScatterOp>(user);
  });
}

/// What nobody reads is not staged: a name that is read at other places only
/// was given a value where it stands nevertheless.
void Generator::dropUnread() {
  auto kernel = llvm::cast<qn::RowwiseOp>(body->getParentOp());
  eraseUnused(*body);
  for (unsigned number = body->getNumArguments();
       number-- > kernel.callerArguments();) {
    BlockArgument staged = body->getArgument(number);
    if (isRead(staged))
      continue;
    for (Operation *writer : llvm::make_early_inc_range(staged.getUsers()))
      writer->erase();
    body->eraseArgument(number);
    if (std::uint64_t left = *kernel.getStaged() - 1)
      kernel.setStaged(left);
    else
      kernel.removeStagedAttr();
    eraseUnused(*body);
  }
}
