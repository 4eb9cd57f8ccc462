// The launches of a reduction that several tasks share: parts, then their
// merge.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

unsigned LaunchBuilder::stateCount() const {
  unsigned count = 0;
  for (qn::ReduceOp op : launch.reductions)
    count += op->getNumResults();
  return count;
}

/// Bytes of workspace the launch needs: what is staged and other launches'
/// results first, then its own.
Value LaunchBuilder::workspace(Frame &root) {
  if (launch.blocks)
    return rowBlocks->workspace(root);
  if (launch.hasStateRows())
    return columns->workspace(root);
  if (launch.packs())
    return launch.sumsParts() ? contraction->deepWorkspace(root)
                              : contraction->workspace(root);
  Value bytes = behindStaged(emitter, root, schedule.partsOffset);
  if (launch.reductions.empty())
    return bytes;
  Value parts = tiles(root, launch.axes.front());
  if (launch.compact) // behind the last one stands how many there are
    parts = arith::AddIOp::create(emitter.in(root), loc, parts,
                                  emitter.constant(root, 1));
  Value each = emitter.constant(root, 8 * stateCount());
  OpBuilder &b = emitter.in(root);
  parts = arith::MulIOp::create(b, loc, parts, each);
  return arith::AddIOp::create(b, loc, bytes, parts);
}

/// Bytes that every worker needs for what extents decide.
Value LaunchBuilder::namedWorkspace(Frame &root) {
  if (launch.kind == LaunchKind::Rows)
    return rowBlocks->ownWorkspace(root);
  if (launch.sort)
    return sortBytes(root);
  return emitter.constant(root, 0);
}

/// Bytes of workspace that every worker has for itself, behind the others: for
/// what extents decide, then for the rooms of the task.
Value LaunchBuilder::ownWorkspace(Frame &root) {
  Value named = namedWorkspace(root);
  OpBuilder &b = emitter.in(root);
  roomBytes.push_back(
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)));
  return arith::AddIOp::create(b, loc, named, roomBytes.back());
}

/// Where the worker's own workspace begins.
Value LaunchBuilder::ownMemory(Frame &root, Value worker) {
  Value own = ownWorkspace(root), start = workspace(root);
  OpBuilder &b = emitter.in(root);
  own = arith::MulIOp::create(b, loc, own, worker);
  return emitter.inWorkspace(root, arith::AddIOp::create(b, loc, own, start));
}

/// Where its rooms begin, at a cache line.
Value LaunchBuilder::roomMemory(Frame &root, Value worker) {
  Value own = ownWorkspace(root), start = workspace(root);
  Value named = namedWorkspace(root);
  Value more = emitter.constant(root, TaskMemory::alignment - 1);
  Value whole = emitter.constant(root, -TaskMemory::alignment);
  OpBuilder &b = emitter.in(root);
  own = arith::MulIOp::create(b, loc, own, worker);
  for (Value bytes : {start, named, more})
    own = arith::AddIOp::create(b, loc, own, bytes);
  own = arith::AndIOp::create(b, loc, own, whole);
  return emitter.inWorkspace(root, own);
}

/// Reduces one part of the split axis and leaves its states in the workspace.
void LaunchBuilder::partials(Frame &frame, Value number,
                             const LoopSpec &split) {
  auto states = emitter.partialStates(frame, launch.reductions, split);
  for (auto [slot, state] : llvm::zip(partSlots(frame, number), states))
    emitter.writeSlot(frame, slot, state);
}

/// Where part `number` left its states.
Emitter::Values LaunchBuilder::partSlots(Frame &body, Value number) {
  Value count = emitter.constant(body, stateCount());
  Value first = arith::MulIOp::create(emitter.in(body), loc, number, count);
  Emitter::Values slots;
  for (unsigned place = 0; place < stateCount(); ++place)
    slots.push_back(
        emitter.slot(body, first, schedule.partsOffset + 8 * place));
  return slots;
}

/// The states of every part from `first` on, `by` further each time, in their
/// order: the same result for any number of tasks.
Emitter::Values LaunchBuilder::mergedParts(Frame &frame,
                                           ArrayRef<qn::ReduceOp> members,
                                           const LoopSpec &parts, Value by,
                                           SlotsOfPart slotsOf) {
  Emitter::Values states;
  for (qn::ReduceOp op : members)
    llvm::append_range(states, emitter.emitAll(frame, op.getInits(), 0));
  auto loop = scf::ForOp::create(emitter.in(frame), loc, parts.lower,
                                 parts.upper, by, states);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame body = Frame::inside(frame, loop.getBody());
  Emitter::Values slots = slotsOf(body, loop.getInductionVar()), merged;
  ValueRange left = slots, old = loop.getRegionIterArgs();
  for (qn::ReduceOp op : members) {
    unsigned width = op->getNumResults();
    Emitter::Values both(old.take_front(width));
    for (auto [slot, result] : llvm::zip(left, op->getResults()))
      both.push_back(emitter.readSlot(body, slot, result.getType()));
    llvm::append_range(merged,
                       emitter.inlineRegion(body, op.getMerge(), both, 0));
    left = left.drop_front(width);
    old = old.drop_front(width);
  }
  scf::YieldOp::create(emitter.in(body), loc, merged);
  frame.anchor = anchor;
  return Emitter::Values(loop.getResults());
}

void LaunchBuilder::merge(Frame &frame) {
  LoopSpec parts;
  parts.upper = tiles(frame, launch.axes.front());
  parts.lower = emitter.constant(frame, 0);
  Value one = emitter.constant(frame, 1);
  Emitter::Values states = mergedParts(
      frame, launch.reductions, parts, one,
      [&](Frame &body, Value number) { return partSlots(body, number); });
  saveResults(frame, states);
}

/// Leaves what the reductions give where the later launches read it.
void LaunchBuilder::saveResults(Frame &frame, ValueRange states) {
  Value zero = emitter.constant(frame, 0);
  unsigned place = 0;
  for (qn::ReduceOp op : launch.reductions)
    for (OpResult result : op->getResults())
      emitter.writeSlot(
          frame, emitter.slot(frame, zero, schedule.workspaceOffset(result)),
          states[place++]);
}
