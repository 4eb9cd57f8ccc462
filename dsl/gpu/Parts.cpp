// Reductions in parts: what a team leaves of one, and their merge.
#include "dsl/gpu/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

AxisPlan EntryBuilder::partAxis() const {
  return AxisPlan{.axis = launch.columns->rows,
                  .tile = launch.columns->partRows,
                  .most = launch.columns->mostParts};
}

/// What parts leave in the workspace.
void EntryBuilder::describeParts(LaunchEntry &entry) const {
  WorkspaceTerm states{8 * std::uint64_t(launch.columns->states()), {}};
  for (unsigned axis : axisList(launch.parallel))
    states.tiles.push_back(describeTile({.axis = axis}));
  states.tiles.push_back(describeTile(partAxis()));
  entry.workspace.push_back(std::move(states));
}

/// The positions along the rows that belong to a part.
LoopSpec EntryBuilder::rowsOf(Frame &frame, Value part) {
  AxisPlan axis = partAxis();
  Value extent = emitter.extent(frame, axis.axis);
  Value parts = everyPart(frame, axis).upper;
  Value one = emitter.constant(frame, 1);
  OpBuilder &b = emitter.in(frame);
  parts = arith::MaxUIOp::create(b, loc, parts, one);
  Value size = arith::AddIOp::create(b, loc, extent,
                                     arith::SubIOp::create(b, loc, parts, one));
  size = arith::DivUIOp::create(b, loc, size, parts);
  Value lower = arith::MulIOp::create(b, loc, part, size);
  lower = arith::MinUIOp::create(b, loc, lower, extent);
  Value upper = arith::AddIOp::create(b, loc, lower, size);
  upper = arith::MinUIOp::create(b, loc, upper, extent);
  axis.copies = plan.rows;
  return {axis, lower, upper};
}

/// Where the states of a part lie, for the position of the unit and column
/// `lane` from there on: columns are neighbours.
Emitter::Values EntryBuilder::stateSlots(Frame &frame, Value part,
                                         std::int64_t lane) {
  const Columns &columns = *launch.columns;
  Value number = FlatAxes(emitter, model, columns.outer).flattened(frame);
  Value parts = everyPart(frame, partAxis()).upper;
  Value states = emitter.constant(frame, columns.states());
  Value width = emitter.constant(frame, 1);
  Value column = emitter.constant(frame, lane);
  if (!columns.isRow) {
    width = emitter.extent(frame, columns.lane);
    Value first = frame.find(columns.lane)->position;
    column = arith::AddIOp::create(emitter.in(frame), loc, first, column);
  }
  OpBuilder &b = emitter.in(frame);
  number = arith::MulIOp::create(b, loc, number, parts);
  number = arith::AddIOp::create(b, loc, number, part);
  number = arith::MulIOp::create(b, loc, number, states);
  number = arith::MulIOp::create(b, loc, number, width);
  number = arith::AddIOp::create(b, loc, number, column);
  Emitter::Values slots;
  for (std::int64_t state = 0; state < columns.states(); ++state) {
    slots.push_back(emitter.slot(frame, number, schedule.partsOffset));
    number = arith::AddIOp::create(emitter.in(frame), loc, number, width);
  }
  return slots;
}

/// A thread's own columns, or what a team has of one row: one thread leaves it.
void EntryBuilder::leaveStates(Frame &frame, Value part, ValueRange states) {
  const Binding *lane =
      launch.columns->isRow ? nullptr : frame.find(launch.columns->lane);
  if (!emitter.isOneThread(frame)) {
    auto branch =
        scf::IfOp::create(emitter.in(frame), loc, team.isFirst, false);
    Operation *anchor = std::exchange(frame.anchor, branch);
    Frame inside = Frame::inside(frame, branch.thenBlock());
    inside.anchor = branch.thenBlock()->getTerminator();
    for (auto [slot, state] : llvm::zip(stateSlots(inside, part), states))
      emitter.writeSlot(inside, slot, state);
    frame.anchor = anchor;
    return;
  }
  for (unsigned place = 0; place < lane->lanes; ++place)
    for (auto [slot, state] :
         llvm::zip(stateSlots(frame, part, place), states)) {
      emitter.in(frame);
      Value own = state;
      if (isa<VectorType>(own.getType()))
        own = vector::ExtractOp::create(builder, loc, own, place);
      emitter.writeSlot(frame, slot, own);
    }
}

/// Reduces what a unit has of the rows: a part of them, which is left in the
/// workspace, or all of them, of which the results are made at once.
void EntryBuilder::partUnit(Frame &frame, ValueRange position) {
  const Columns &columns = *launch.columns;
  Value part;
  std::optional<LoopSpec> lane;
  for (auto [axis, at] : llvm::zip(launch.axes, position)) {
    if (axis.axis == columns.rows) {
      part = at;
    } else if (axis.tile == 1) {
      frame.bind(Binding{.axis = axis.axis, .position = at});
    } else {
      Value tile = emitter.constant(frame, axis.tile);
      Value extent = emitter.extent(frame, axis.axis);
      OpBuilder &b = emitter.in(frame);
      Value lower = arith::MulIOp::create(b, loc, at, tile);
      Value upper = arith::AddIOp::create(b, loc, lower, tile);
      upper = arith::MinUIOp::create(b, loc, upper, extent);
      lane = LoopSpec{axis, lower, upper};
    }
  }
  AxisPlan all{.axis = columns.rows, .copies = plan.rows};
  LoopSpec rows = part ? rowsOf(frame, part) : LoopSpec{all, {}, {}};
  auto reduce = [&](Frame &at) {
    auto states = emitter.partialStates(at, columns.members, rows);
    if (part)
      leaveStates(at, part, states);
    else
      emitter.emitStores(at, launch.stores);
  };
  if (!lane)
    return reduce(frame);
  Emitter::Values none;
  emitter.nest(frame, *lane, none,
               [&](Frame &at, Emitter::Values &) { reduce(at); });
}

/// The parts of a split axis.
LoopSpec EntryBuilder::everyPart(Frame &frame, const AxisPlan &split) {
  Frame *root = &frame;
  while (root->parent)
    root = root->parent;
  Value count = tileCount(*root, split);
  OpBuilder &b = emitter.in(*root);
  if (count.getType().isInteger(32))
    count = arith::ExtUIOp::create(b, loc, b.getI64Type(), count);
  return {split, {}, count};
}

/// Which parts belong to a thread: neighbours where their order counts, else
/// the threads take turns. Gives how far one is from the next.
Value EntryBuilder::dealParts(Frame &frame, LoopSpec &parts, bool ordered) {
  if (ordered) {
    std::tie(parts.lower, parts.upper) = emitter.ownChunk(frame, parts.upper);
    return emitter.constant(frame, 1);
  }
  OpBuilder &b = emitter.in(frame);
  parts.lower = arith::ExtUIOp::create(b, loc, b.getI64Type(), team.thread);
  return emitter.constant(frame, team.size);
}

/// The threads of the team share the parts, then merge; gives the states of all
/// members.
Emitter::Values EntryBuilder::mergedByTeam(Frame &frame,
                                           ArrayRef<qn::ReduceOp> members,
                                           LoopSpec parts,
                                           SlotsOfPart slotsOf) {
  bool ordered =
      llvm::any_of(members, [](qn::ReduceOp op) { return op.getOrdered(); });
  Value by = dealParts(frame, parts, ordered);
  Emitter::Values mine = mergedParts(frame, members, parts, by, slotsOf), all;
  ValueRange rest = mine;
  for (qn::ReduceOp op : members) {
    Emitter::Values states(rest.take_front(op->getNumResults()));
    rest = rest.drop_front(states.size());
    llvm::append_range(all, emitter.mergeTeam(frame, op, states));
  }
  return all;
}

/// The parts of one result.
void EntryBuilder::mergeUnit(Frame &frame, ValueRange position) {
  for (auto [axis, at] : llvm::zip(launch.axes, position))
    frame.bind(Binding{.axis = axis.axis, .position = at});
  const Columns &columns = *launch.columns;
  Emitter::Values merged = mergedByTeam(
      frame, columns.members, everyPart(frame, partAxis()),
      [&](Frame &body, Value part) { return stateSlots(body, part); });
  auto next = merged.begin();
  for (qn::ReduceOp op : columns.members)
    for (Value result : op->getResults())
      frame.values[{result.getAsOpaquePointer(), Copies(0)}] = *next++;
  emitter.emitStores(frame, launch.stores);
}

/// The parts of everything.
void EntryBuilder::mergeParts(Frame &frame) {
  Emitter::Values merged = mergedByTeam(
      frame, launch.reductions, everyPart(frame, launch.axes.front()),
      [&](Frame &body, Value number) { return partSlots(body, number); });
  saveResults(frame, merged);
}
