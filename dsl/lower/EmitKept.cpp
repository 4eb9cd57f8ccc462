// Expensive values kept from one pass over a row to the next, in the row of the
// output they lead to.
#include "dsl/cost/Parameters.h"
#include "dsl/cost/Work.h"
#include "dsl/lower/FlatAxes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// Whether `value` is among what `from` is made of, without other reductions.
static bool reaches(ValueRange from, Value value,
                    llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (Value start : from) {
    if (start == value)
      return true;
    Operation *op = start.getDefiningOp();
    if (op && !isa<qn::ReduceOp, qn::ScanOp>(op) && seen.insert(op).second &&
        reaches(op->getOperands(), value, seen))
      return true;
  }
  return false;
}

/// A reduction that walks over `value` just before `store` needs it again: one
/// walk, so its result has no axis that is still without a loop.
qn::ReduceOp Emitter::writerOf(Value value, qn::StoreOp store) {
  AxisSet axes = model.factsOf(store).axes;
  unsigned rank = model.factsOf(value).rank;
  for (qn::ReduceOp op : model.reductions) {
    const ValueFacts &facts = model.factsOf(op->getResult(0));
    llvm::SmallPtrSet<Operation *, 32> seen;
    if (wanted.contains(op.getOperation()) && facts.rank == rank + 1 &&
        !(facts.axes & ~launch->parallel) &&
        (facts.axes | model.axesOf(op.getAxes())) == axes &&
        reaches(op.getInputs(), value, seen))
      return op;
  }
  return nullptr;
}

/// The one value between the loads and `value` that may stand in the output's
/// row meanwhile; null when something else along the row is needed too.
/// `known` holds what was found out: a value may be used by many.
Value Emitter::candidate(Value value, qn::StoreOp store, AxisSet missing,
                         llvm::DenseMap<Value, Value> &known) {
  if (!(model.axesOf(value) & missing))
    return Value();
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Value found = candidateWithin(value, store, missing, known);
  known.insert({value, found});
  return found;
}

Value Emitter::candidateWithin(Value value, qn::StoreOp store, AxisSet missing,
                               llvm::DenseMap<Value, Value> &known) {
  Operation *op = value.getDefiningOp();
  qn::OperandType type = store.getTensor().getType();
  if (value.getType() == type.getElementType() &&
      model.axesOf(value) == model.axesOf(type) && writerOf(value, store))
    return value;
  if (!op || !OpTrait::hasElementwiseMappableTraits(op))
    return store.getTensor();
  Value found;
  for (Value operand : op->getOperands()) {
    Value inside = candidate(operand, store, missing, known);
    if (inside && found && inside != found)
      return store.getTensor();
    found = inside ? inside : found;
  }
  return found;
}

void Emitter::findKept() {
  keptValues.clear();
  if (launch->blocks)
    return;
  for (qn::StoreOp store : launch->stores) {
    AxisSet missing = model.factsOf(store).axes & ~launch->parallel;
    qn::OperandType type = store.getTensor().getType();
    bool onlyUse = store.getTensor().hasOneUse();
    if (!missing || !onlyUse || model.factsOf(store).rank == 0 ||
        model.axesOf(type) != model.factsOf(store).axes ||
        !type.getElementType().isIntOrFloat())
      continue;
    llvm::DenseMap<Value, Value> known;
    Value found = candidate(store.getValue(), store, missing, known);
    auto isMissing = [&](Value next) {
      return bool(model.axesOf(next) & missing);
    };
    if (found && found != store.getTensor() && found != store.getValue() &&
        cost::operationsBehind(found, isMissing) >= cost::keepLeast)
      keptValues.insert({found, {store, writerOf(found, store)}});
  }
}

/// Writes what the reductions of `group` are to keep.
void Emitter::keep(Frame &frame, const ReductionGroup &group) {
  for (auto &[value, how] : keptValues)
    if (llvm::is_contained(group.members, how.writer))
      for (Copies copy : copiesOf(frame, model.axesOf(value)))
        store(frame, how.store, value, copy);
}

/// A kept value read back; null while it is being made.
Value Emitter::kept(Frame &frame, Value value, Copies copies) {
  auto *found = keptValues.find(value);
  if (found == keptValues.end() || running.contains(found->second.writer))
    return Value();
  emit(frame, found->second.writer->getResult(0), copies);
  auto operand = cast<BlockArgument>(found->second.store.getTensor());
  return loadOwn(frame, operand, std::nullopt, value.getType(), copies);
}

/// A value of the block of rows under construction, read at the bound
/// positions.
Value Emitter::readBuffered(Frame &frame, Value value, Copies copies) {
  const Buffered &kept = buffered.find(value)->second;
  Value row = FlatAxes(*this, model, kept.rows).flattened(frame);
  OpBuilder &b = in(frame);
  row = arith::SubIOp::create(b, value.getLoc(), row, kept.first);
  Value column;
  if (kept.inner)
    column = position(frame, *kept.inner, copies);
  unsigned lanes = kept.inner ? frame.find(*kept.inner)->lanes : 1;
  return read(frame, kept.pointer(frame, row, column), value.getType(), lanes,
              Value(), Value());
}
